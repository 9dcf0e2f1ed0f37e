--- The lines of a buffer as the exact text of its file, and back: line ends, final newline, byte-order mark.
local M = {}

local api = vim.api

---@class acp.Ends how a buffer's lines become bytes
---@field sep string between two lines
---@field bom boolean
---@field eol boolean the last line ends too
---@field eof boolean a CTRL-Z follows

local separators = { unix = '\n', dos = '\r\n', mac = '\r' }

---@param buf integer
---@return acp.Ends
function M.ends(buf)
  local bo = vim.bo[buf]
  -- 'binary' writes every buffer as it is.
  return {
    sep = bo.binary and '\n' or separators[bo.fileformat],
    bom = bo.bomb and not bo.binary,
    eol = bo.endofline,
    eof = bo.endoffile and not bo.binary,
  }
end

---The text as it would stand in the file, in UTF-8.
---@param buf integer
---@return string
function M.text(buf)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local how = M.ends(buf)
  local text = table.concat(lines, how.sep)
  if text == '' and #lines == 1 then
    -- An empty file and an empty line look the same here.
    local empty = api.nvim_buf_call(buf, function()
      return vim.fn.wordcount().bytes == 0
    end)
    text = (how.eol and not empty) and how.sep or ''
  elseif how.eol then
    text = text .. how.sep
  end
  return (how.bom and '\239\187\191' or '') .. text .. (how.eof and '\26' or '')
end

---How many bytes the text has, without putting it together.
---@param buf integer
---@return integer
function M.size(buf)
  local how = M.ends(buf)
  local bo, size = vim.bo[buf], 0
  api.nvim_buf_call(buf, function()
    size = vim.fn.line2byte(api.nvim_buf_line_count(buf) + 1) - 1
  end)
  -- Neovim leaves out the end of the last line only where it would not put one there.
  local counted = not how.eol and bo.fixendofline and not bo.binary
  return size - (counted and #how.sep or 0) + (how.bom and 3 or 0) + (how.eof and 1 or 0)
end

---Bytes from which texts are compared by slices: a large one that differs is not put together for it.
local LARGE = 64 * 1024
---Lines of a slice.
local SLICE = 2000

---Whether a buffer's text is this one.
---@param buf integer
---@param text string
---@return boolean
function M.is(buf, text)
  if #text < LARGE then
    return M.text(buf) == text
  elseif M.size(buf) ~= #text then
    return false
  end
  local how, count = M.ends(buf), api.nvim_buf_line_count(buf)
  local at = how.bom and 4 or 1
  if how.bom and text:sub(1, 3) ~= '\239\187\191' or how.eof and text:sub(-1) ~= '\26' then
    return false
  end
  for first = 0, count - 1, SLICE do
    local last = math.min(first + SLICE, count)
    local slice = table.concat(api.nvim_buf_get_lines(buf, first, last, true), how.sep)
    if last < count or how.eol then
      slice = slice .. how.sep
    end
    if text:sub(at, at + #slice - 1) ~= slice then
      return false
    end
    at = at + #slice
  end
  return true
end

---@param text string
---@param sep string
---@return string[]
local function cut(text, sep)
  local lines, count, at = {}, 0, 1
  while true do
    local first, last = text:find(sep, at, true)
    count = count + 1
    if not first then
      lines[count] = text:sub(at)
      return lines
    end
    lines[count] = text:sub(at, first - 1)
    at = last + 1
  end
end

---Cut a text into a buffer's lines. The file format is kept if it can hold the text exactly.
---@param buf integer
---@param text string
---@return string[] lines
---@return acp.Ends
function M.split(buf, text)
  local before = M.ends(buf)
  local how = { sep = '\n', bom = false, eol = true, eof = false }
  if not vim.bo[buf].binary then
    if text:sub(1, 3) == '\239\187\191' then
      how.bom, text = true, text:sub(4)
    end
    local returns = text:find('\r', 1, true) ~= nil
    local newlines, pairs_ = text:find('\n', 1, true) and 1 or 0, 0
    if returns then
      newlines, pairs_ = select(2, text:gsub('\n', '')), select(2, text:gsub('\r\n', ''))
    end
    local first = api.nvim_buf_get_lines(buf, 0, 1, false)[1] or ''
    if newlines > 0 and newlines == pairs_ and (before.sep == '\r\n' or first:sub(-1) ~= '\r') then
      how.sep = '\r\n'
    elseif newlines == 0 and (before.sep == '\r\n' or (before.sep == '\r' and returns)) then
      how.sep = before.sep
    end
    if how.sep == '\r\n' and text:sub(-1) == '\26' then
      how.eof, text = true, text:sub(1, -2)
    end
  end
  how.eol = text:sub(-#how.sep) == how.sep
  if text == '' then
    how.eol = true
    return {}, how
  end
  if how.eol then
    text = text:sub(1, -#how.sep - 1)
  end
  return cut(text, how.sep), how
end

---Set the options that say how lines become bytes.
---@param buf integer
---@param to acp.Ends
function M.set_ends(buf, to)
  local bo = vim.bo[buf]
  local format = ({ ['\n'] = 'unix', ['\r\n'] = 'dos', ['\r'] = 'mac' })[to.sep]
  for name, value in pairs({ fileformat = format, bomb = to.bom, endofline = to.eol, endoffile = to.eof }) do
    local fixed = bo.binary and name ~= 'endofline'
    if not fixed and bo[name] ~= value then
      bo[name] = value
    end
  end
end

---Big-endian encodings, which Neovim's `iconv` takes for those of this machine: the little-endian ones with
---bytes in the other order. Pattern and replacement do that.
local swapped = {
  ['utf-16'] = { 'utf-16le', '(.)(.)', '%2%1' },
  ['ucs-2'] = { 'ucs-2le', '(.)(.)', '%2%1' },
  ['ucs-4'] = { 'ucs-4le', '(.)(.)(.)(.)', '%4%3%2%1' },
}

---@param text string
---@param encoding string a value of 'fileencoding', neither '' nor utf-8
---@return string?
local function to_bytes(text, encoding)
  local swap = swapped[encoding]
  if not swap then
    return vim.iconv(text, 'utf-8', encoding)
  end
  local bytes = vim.iconv(text, 'utf-8', swap[1])
  return bytes and (bytes:gsub(swap[2], swap[3]))
end

---@param bytes string
---@param encoding string
---@return string?
local function to_text(bytes, encoding)
  local swap = swapped[encoding]
  if not swap then
    return vim.iconv(bytes, encoding, 'utf-8')
  end
  return vim.iconv((bytes:gsub(swap[2], swap[3])), swap[1], 'utf-8')
end

---The bytes of a text in an encoding; nil if it cannot hold the text.
---@param text string
---@param encoding string a value of 'fileencoding'
---@return string?
function M.encode(text, encoding)
  if encoding == '' or encoding == 'utf-8' then
    return text
  end
  local bytes = to_bytes(text, encoding)
  return bytes and to_text(bytes, encoding) == text and bytes or nil
end

---The encoding of a buffer's file.
---@param buf integer
---@return string '' for UTF-8
function M.encoding(buf)
  -- 'binary' writes every buffer as it is.
  return vim.bo[buf].binary and '' or vim.bo[buf].fileencoding
end

---Whether the text of a buffer is the bytes of its file.
---@param buf integer
---@return boolean
function M.is_utf8(buf)
  local encoding = M.encoding(buf)
  return encoding == '' or encoding == 'utf-8'
end

---@param bytes string
---@return boolean valid, boolean ascii
local function utf8(bytes)
  local _, plain = bytes:find('^[%z\1-\127]*')
  if plain == #bytes then
    return true, true
  end
  local rest = bytes
    :gsub('[\240-\244][\128-\191][\128-\191][\128-\191]', ' ')
    :gsub('[\224-\239][\128-\191][\128-\191]', ' ')
    :gsub('[\194-\223][\128-\191]', ' ')
  return not rest:find('[\128-\255]'), false
end

---The text of a file's bytes. The buffer's encoding is kept if the bytes are good in it; what others write is
---UTF-8 mostly, and what is none can be anything of 8 bits: latin1 keeps every byte.
---@param buf integer
---@param bytes string
---@return string text
---@return string encoding for 'fileencoding'
function M.decode(buf, bytes)
  local encoding = M.encoding(buf)
  if vim.bo[buf].binary then
    return bytes, vim.bo[buf].fileencoding
  end
  local good, ascii = utf8(bytes)
  local unicode = encoding == '' or encoding == 'utf-8'
  -- There is hardly a text of two or four bytes a character without a NUL.
  local wide = encoding:find('^ucs') or encoding:find('^utf%-[13]')
  local fits = wide and bytes:find('\0', 1, true) or not wide and ascii
  if good and unicode then
    return bytes, encoding
  end
  if not unicode and (fits or not good) then
    local text = to_text(bytes, encoding)
    if text and to_bytes(text, encoding) == bytes then
      return text, encoding
    end
  end
  if good then
    return bytes, 'utf-8'
  end
  return vim.iconv(bytes, 'latin1', 'utf-8') or bytes, 'latin1'
end

---The bytes `:write` would put into the file; nil if the encoding cannot hold the text.
---@param buf integer
---@return string?
function M.bytes(buf)
  return M.encode(M.text(buf), M.encoding(buf))
end

---Whether `:write` would put these bytes into the file.
---@param buf integer
---@param bytes string
---@return boolean
function M.is_bytes(buf, bytes)
  if M.is_utf8(buf) then
    return M.is(buf, bytes)
  end
  return M.bytes(buf) == bytes
end

return M
