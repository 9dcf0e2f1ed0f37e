--- What an agent's command takes, shown behind it while no argument is typed.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.hint')

---@param chat acp.Chat
local function draw(chat)
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

---@param chat acp.Chat
function M.attach(chat)
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    group = require('acp.chat').group,
    buffer = chat.prompt,
    callback = function()
      draw(chat)
    end,
  })
end

return M
