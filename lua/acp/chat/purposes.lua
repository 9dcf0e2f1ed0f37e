--- What the keys of transcript, prompt, proposal and terminal are for, in the order in which `g?` lists them.
--- `chat/keymaps.lua` has the default keys, `chat/actions.lua` does what they are for.

---@class acp.chat.Purpose
---@field [1] string name of the action
---@field [2] string what it does
---@field modes? string[] default: Normal mode
---@field answers? boolean it answers a question by the kind of an option
---@field proposal? boolean of `both`, besides the answers: a proposal has it, too

---By the group of the settings' `keymaps`.
---@type table<string, acp.chat.Purpose[]>
return {
  transcript = {
    { 'open', 'open what is here: question, file, details' },
    { 'file', 'open the file of this row' },
    { 'url', 'open the address under the cursor (asks)' },
    { 'details', 'details of this block' },
    { 'cancel_item', 'cancel what runs here, where the agent can' },
    { 'previous', 'previous prompt', modes = { 'n', 'x' } },
    { 'next', 'next prompt', modes = { 'n', 'x' } },
    { 'outline', 'list of prompts' },
    { 'insert', 'write in the prompt' },
    { 'append', 'write at the end of the prompt' },
    { 'line', 'write on a new line of the prompt' },
    { 'close', 'close the chat; the session goes on' },
    { 'help', 'these keys' },
  },
  diff = {
    { 'close', 'close the diff; the question stays open' },
    { 'help', 'these keys' },
  },
  terminal = {
    { 'insert', 'write in the prompt' },
    { 'append', 'write at the end of the prompt' },
    { 'close', 'close the terminal; the command goes on' },
    { 'help', 'these keys' },
  },
  prompt = {
    { 'send', 'send', modes = { 'n', 'i' } },
    { 'send_normal', 'send' },
    { 'send_now', 'send at once: into the running turn, or instead of it' },
    { 'previous', 'older prompt: what is queued first; sending it changes it there' },
    { 'next', 'newer prompt' },
    { 'history', 'choose one of the older prompts of this folder' },
    { 'queue', 'the queue: change, order, send at once, take out' },
    { 'write_unsaved', 'write what the agent does not see: unsaved edits' },
    { 'attach_unsaved', 'attach what the agent does not see: unsaved edits' },
    { 'paste_image', 'put the picture of the clipboard in' },
    { 'help', 'these keys' },
  },
  both = {
    { 'allow_once', 'allow once', answers = true },
    { 'allow_always', 'allow always', answers = true },
    { 'reject_once', 'reject', answers = true },
    { 'reject_always', 'reject always', answers = true },
    { 'cancel', 'cancel the turn' },
    { 'fork', 'ask something beside, in a session that knows this chat' },
    { 'diff', 'the change as a diff; there, its next file', proposal = true },
    { 'follow', 'follow the agent, or not' },
    { 'mode', 'choose the mode' },
    { 'model', 'choose the model' },
    { 'options', 'choose an option' },
    { 'next_mode', 'the next mode', modes = { 'n', 'i' } },
  },
}
