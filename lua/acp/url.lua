--- Addresses of the web that an agent names: shown in full, and opened only when the user says so.
local M = {}

---@class acp.Url what the host says of an address (text/url.py)
---@field url string
---@field host string
---@field warnings string[]

---What the user reads before an address is opened: all of it, its host, what is odd about it.
---@param address acp.Url
---@return string[]
function M.lines(address)
  local lines = { address.url, '', 'host  ' .. address.host }
  for _, warning in ipairs(address.warnings) do
    table.insert(lines, 'note  ' .. warning)
  end
  return lines
end

---Show an address in full and ask whether to open it.
---@param address acp.Url
function M.open_with_consent(address)
  local answers = { 'open it in the browser', 'copy the address' }
  local opts = { prompt = 'open this address?', kind = 'acp_url', lines = M.lines(address) }
  require('acp.choose').one(answers, opts, function(answer)
    if answer == answers[1] then
      require('acp.browser').open(address.url)
    elseif answer == answers[2] then
      vim.fn.setreg(vim.v.register, address.url)
    end
  end)
end

---What belongs to the sentence and not to the address.
---@param url string
---@return string
local function trimmed(url)
  url = url:gsub('[.,;:!?\'"*_]+$', '')
  while url:find('%)$') and select(2, url:gsub('%)', '')) > select(2, url:gsub('%(', '')) do
    url = url:gsub('%)$', ''):gsub('[.,;:!?\'"*_]+$', '')
  end
  return url
end

---The address at a place of a line: under the cursor, or behind a Markdown link's text that is.
---@param line string
---@param col integer byte, from 1
---@return string?
function M.at(line, col)
  for from, url, to in line:gmatch('()%[[^%]]*%]%((https?://[^%s)]+)%)()') do
    if col >= from and col < to then
      return url
    end
  end
  for from, url in line:gmatch('()(https?://[^%s<>`|]+)') do
    url = trimmed(url)
    if col >= from and col < from + #url then
      return url
    end
  end
end

return M
