--- Addresses of the web that an agent names: looked at, shown in full, and opened only when the user says so.
local M = {}

local MOST = 8192 -- bytes

---@class acp.Url
---@field url string
---@field host string as the browser will take it: without user name and port
---@field warnings string[] what the user should know of it

-- Characters that cannot be seen, or turn the direction of what is shown: in UTF-8.
local INVISIBLE = {
  '\194[\128-\160\173]',
  '\216\156',
  '\225\160\142',
  '\226\128[\128-\143\168-\175]',
  '\226\129[\159-\175]',
  '\227\128\128',
  '\239\187\191',
}

---@param host string
---@return string?
local function odd_host(host)
  if host:find('[\128-\255]') then
    return 'the host has letters that may look like others'
  elseif host:lower():find('xn--', 1, true) then
    return 'the host is written in other letters (punycode)'
  elseif host:find('^[%d.]+$') or host:find('^0[xX]') or host:find('^%[') then
    return 'the host is a number, not a name'
  end
end

---Take an address apart. What a browser might read in another way than it looks is refused.
---@param url string
---@return acp.Url?
---@return string? reason why it must not be opened
function M.check(url)
  if #url > MOST then
    return nil, ('the address has %d bytes'):format(#url)
  elseif url:find('[%c%s\127]') then
    return nil, 'the address has blanks or control characters in it'
  elseif url:find('\\', 1, true) then
    return nil, 'the address has a backslash in it'
  end
  for _, pattern in ipairs(INVISIBLE) do
    if url:find(pattern) then
      return nil, 'the address has invisible characters in it'
    end
  end
  local scheme, authority = url:match('^(%a+)://([^/?#]*)')
  scheme = scheme and scheme:lower()
  if scheme ~= 'http' and scheme ~= 'https' then
    return nil, 'only addresses that begin with http: or https: are opened'
  end
  local user, place = authority:match('^(.*)@(.*)$')
  place = place or authority
  local host, port = place:match('^(%[[%x:.]+%]):?(%d*)$')
  if not host then
    host, port = place:match('^([^:%[%]]+):?(%d*)$')
  end
  if not host or host:find('[%%"<>^`{|}]') then
    return nil, 'the address has no host'
  end
  local warnings = {}
  if user then
    table.insert(warnings, ('"%s" is a user name, not the host'):format(user))
  end
  warnings[#warnings + 1] = odd_host(host)
  if port ~= '' and tonumber(port) ~= (scheme == 'https' and 443 or 80) then
    table.insert(warnings, 'port ' .. port)
  end
  if scheme == 'http' then
    table.insert(warnings, 'not encrypted')
  end
  return { url = url, host = host, warnings = warnings }
end

---What the user reads before an address is opened: all of it, its host, what is odd about it.
---@param checked acp.Url
---@return string[]
function M.lines(checked)
  local lines = { checked.url, '', 'host  ' .. checked.host }
  for _, warning in ipairs(checked.warnings) do
    table.insert(lines, 'note  ' .. warning)
  end
  return lines
end

---Hand something to the program that the system has for it. Never waits; says it when that fails.
---@param target string an address the user has agreed to, or a file of ours
function M.launch(target)
  local ok, job, reason = pcall(vim.ui.open, target)
  if not ok or (not job and reason) then
    require('acp.message').warn(('cannot open it: %s'):format(not ok and job or reason))
    return
  end
  if type(job) ~= 'table' or not job.is_closing then
    return -- the user's own
  end
  vim.defer_fn(function()
    if job:is_closing() then
      local result = job:wait()
      if result.code ~= 0 then
        local said = (result.stderr or ''):match('[^\n]+') or ('exit code %d'):format(result.code)
        require('acp.message').warn('cannot open it: ' .. said)
      end
    end
  end, 1500)
end

---Show an address in full and ask whether to open it.
---@param url string
---@param done? fun(opened: boolean) called once
function M.open_with_consent(url, done)
  done = done or function() end
  local checked, reason = M.check(url)
  if not checked then
    require('acp.message').warn(('not opened: %s'):format(reason))
    return done(false)
  end
  local answers = { 'open it in the browser', 'copy the address' }
  local opts = { prompt = 'open this address?', kind = 'acp_url', lines = M.lines(checked) }
  require('acp.choose').one(answers, opts, function(answer)
    if answer == answers[1] then
      M.launch(checked.url)
    elseif answer == answers[2] then
      vim.fn.setreg(vim.v.register, checked.url)
    end
    done(answer == answers[1])
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
