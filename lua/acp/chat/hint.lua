--- What an agent's command takes, shown behind it while no argument is typed.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.hint')

---The text has changed.
---@param chat acp.Chat
function M.draw(chat)
  api.nvim_buf_clear_namespace(chat.prompt, ns, 0, -1)
  local lines = api.nvim_buf_get_lines(chat.prompt, 0, 2, false)
  local hint = #lines == 1 and require('acp.chat.complete').hint(chat.n, lines[1])
  if hint then
    local chunk = { ('[%s]'):format(hint), 'AcpHint' }
    api.nvim_buf_set_extmark(
      chat.prompt,
      ns,
      0,
      #lines[1],
      { virt_text = { chunk }, virt_text_pos = 'overlay' }
    )
  end
end

return M
