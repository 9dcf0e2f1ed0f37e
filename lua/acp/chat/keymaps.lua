--- Default keys of the chat's buffers by action (ui.md section 8). Only our own buffers get maps.
--- `settings.keymaps.<group>.<action>` = another key, a list of keys, or false for none.
return {
  transcript = {
    open = '<CR>',
    file = 'gf',
    details = 'K',
    previous = '[[',
    next = ']]',
    outline = 'gO',
    insert = 'i',
    append = 'a',
    line = 'o',
    close = 'q',
    help = 'g?',
  },
  prompt = {
    send = '<C-s>',
    send_normal = '<CR>',
    previous = '[[',
    next = ']]',
    help = 'g?',
  },
  diff = {
    close = 'q',
    help = 'g?',
  },
  both = {
    allow_once = '<LocalLeader>a',
    allow_always = '<LocalLeader>A',
    reject_once = '<LocalLeader>r',
    reject_always = '<LocalLeader>R',
    cancel = '<LocalLeader>c',
    diff = '<LocalLeader>d',
    follow = '<LocalLeader>f',
    mode = '<LocalLeader>m',
    model = '<LocalLeader>M',
    options = '<LocalLeader>o',
    next_mode = false,
  },
}
