// What the agent of version 2 does when a prompt says "do NAME": each uses the SDK as an agent of the field would.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==';
const KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'];
const CHOICES = ['allow_once', 'allow_always', 'reject_once', 'reject_always'].map((kind) => ({
  optionId: `id of ${kind}`,
  name: `Choose ${kind}`,
  kind,
}));

const text = (words) => ({ type: 'text', text: words });
const inside = (content) => ({ type: 'content', content });
const coded = (words) => Buffer.from(words).toString('base64');

// The outcome of a request, in words that can be looked for.
async function outcome(asked) {
  try {
    return `result ${JSON.stringify(await asked)}`;
  } catch (error) {
    return `error ${error.code}`;
  }
}

const chosen = (answer) => answer.outcome.optionId ?? answer.outcome.outcome;

// A command of the agent's own, in a terminal that its client only sees. Resolves when it has ended.
function run(turn, terminalId, command) {
  const child = spawn('sh', ['-c', command], { cwd: turn.session.cwd, detached: true });
  const told = [];
  child.stdout.on('data', (data) =>
    told.push(turn.update('terminal_output_chunk', { terminalId, data: data.toString('base64') })));
  turn.session.stop = () => process.kill(-child.pid, 'SIGTERM');
  return new Promise((resolve) => {
    child.on('close', async (exitCode, signal) => {
      await Promise.all(told);
      await turn.update('terminal_update', { terminalId, capabilities: null, exitStatus: { exitCode, signal } });
      resolve(exitCode);
    });
  });
}

export const acts = {
  async answer({ say, rest }) {
    await say(`You said: ${rest}`);
  },

  async talk({ update, rest }) {
    await update('agent_thought_chunk', { messageId: 'x', content: text('Let me ') });
    await update('agent_message_chunk', { messageId: 'x', content: text('One ') });
    await update('agent_thought_chunk', { messageId: 'x', content: text('think.') });
    await update('agent_message', { messageId: 'y', content: [text('To be replaced.')] });
    await update('agent_message_chunk', { messageId: 'x', content: text('message.') });
    await update('agent_message', { messageId: 'y', content: [text('Another, ')] });
    await update('agent_message_chunk', { messageId: 'y', content: text(`${rest}.`) });
  },

  async blocks({ update, session }) {
    const uri = `file://${join(session.cwd, 'README.md')}`;
    const icons = ['light', 'dark'].map((theme) => ({ src: `data:image/png;base64,${PIXEL}`, theme }));
    const content = [
      { ...text('Here is a picture:'), annotations: { audience: ['user'] } },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: SOUND, mimeType: 'audio/wav' },
      { type: 'resource_link', uri, name: 'README.md', size: 17, mimeType: 'text/markdown', icons },
      { type: 'resource', resource: { uri: 'memory:///notes.txt', text: 'noted', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'memory:///raw', blob: PIXEL, mimeType: 'application/octet-stream' } },
      { ...text('only for the model'), annotations: { audience: ['assistant'], priority: 0.5 } },
    ];
    await update('agent_message', { messageId: 'blocks', content });
  },

  async tools({ update, session }) {
    for (const kind of KINDS) {
      await update('tool_call_update', { toolCallId: kind, title: `Title of ${kind}`, name: `tool_${kind}`, kind, status: 'pending' });
    }
    for (const kind of KINDS) await update('tool_call_update', { toolCallId: kind, status: 'in_progress' });
    await update('tool_call_update', {
      toolCallId: 'read',
      status: 'completed',
      locations: [{ path: join(session.cwd, 'src/main.py'), line: 2 }],
      rawInput: { path: 'src/main.py' },
      rawOutput: ['two', 2, null],
    });
    await update('tool_call_update', { toolCallId: 'edit', status: 'paused' });
    await update('tool_call_update', { toolCallId: 'edit', status: 'cancelled' });
    await update('tool_call_content_chunk', { toolCallId: 'execute', content: inside(text('it ran')) });
    await update('tool_call_update', { toolCallId: 'execute', status: 'failed', content: [inside(text('it broke'))] });
    await update('tool_call_content_chunk', { toolCallId: 'execute', content: inside(text('and smoked')) });
    for (const kind of KINDS.filter((each) => !['read', 'edit', 'execute'].includes(each))) {
      await update('tool_call_update', { toolCallId: kind, status: 'completed', title: `Titled ${kind}` });
    }
  },

  async diffs({ update, session, say }) {
    const at = (name) => join(session.cwd, name);
    const patch = (words) => ({ patch: { format: 'git_patch', text: words } });
    const show = (toolCallId, diff) =>
      update('tool_call_update', { toolCallId, kind: 'edit', status: 'completed', content: [{ type: 'diff', ...diff }] });
    await show('added', {
      changes: [{ operation: 'add', path: at('made.txt'), fileType: 'text', mimeType: 'text/plain' }],
      ...patch(`diff --git ${at('made.txt')} ${at('made.txt')}\nnew file mode 100644\n--- /dev/null\n+++ ${at('made.txt')}\n@@ -0,0 +1 @@\n+all new\n`),
    });
    await show('several', {
      changes: [
        { operation: 'modify', path: at('greeting.txt'), fileType: 'text' },
        { operation: 'move', oldPath: at('a.png'), path: at('b.png'), fileType: 'binary' },
      ],
      ...patch(
        `diff --git ${at('greeting.txt')} ${at('greeting.txt')}\n--- ${at('greeting.txt')}\n+++ ${at('greeting.txt')}\n@@ -2 +2 @@\n-hello world\n+hello peer\n` +
        `diff --git ${at('a.png')} ${at('b.png')}\nsimilarity index 100%\nrename from ${at('a.png')}\nrename to ${at('b.png')}\n`),
    });
    await show('gone', { changes: [{ operation: 'delete', path: at('old'), fileType: 'directory' }] });
    await show('copied', { changes: [{ operation: 'copy', oldPath: at('x'), path: at('y'), fileType: 'symlink' }] });
    await say('All changed.');
  },

  async plan({ update, say }) {
    const entry = (content, priority, status) => ({ content, priority, status });
    const entries = [entry('Look around', 'high', 'in_progress'), entry('Do it', 'medium', 'pending'), entry('Rest', 'low', 'cancelled')];
    const tell = (planId, items) => update('plan_update', { plan: { type: 'items', planId, entries: items } });
    await tell('main', entries);
    await say('One of three.');
    await tell('main', [{ ...entries[0], status: 'completed' }, ...entries.slice(1)]);
    await tell('side', [entry('Another plan', 'low', 'pending')]);
  },

  async state({ update, options, say }) {
    await update('available_commands_update', { availableCommands: [{ type: 'command', name: 'fresh', description: 'came later' }] });
    await update('session_info_update', { title: 'A title of its own', updatedAt: '2026-05-06T07:08:09Z' });
    await update('usage_update', { used: 1200, size: 4800, cost: { amount: 0.25, currency: 'EUR' } });
    await update('config_option_update', { configOptions: options({ mode: 'code', model: 'large' }) });
    await say('All told.');
  },

  async notices({ update, say }) {
    for (const severity of ['info', 'warning', 'error']) {
      await update('notice', { severity, title: `A notice: ${severity}`, description: 'More about it.' });
    }
    await update('compaction_update', { compactionId: 'c', status: 'in_progress' });
    await update('compaction_summary_chunk', { compactionId: 'c', content: text('In short.') });
    await update('compaction_update', { compactionId: 'c', status: 'completed' });
    await update('compaction_update', { compactionId: 'd', status: 'failed', error: 'no room left' });
    await update('compaction_update', { compactionId: 'e', status: 'cancelled', summary: [text('Half of it.')] });
    await say('Noticed.');
  },

  // Ask for a change, and make it on the disk if it is allowed.
  async edit({ acp, ask, update, say, session }) {
    const path = join(session.cwd, 'greeting.txt');
    const whole = readFileSync(path, 'utf8');
    const words = `diff --git ${path} ${path}\n--- ${path}\n+++ ${path}\n@@ -2 +2 @@\n-hello world\n+hello peer\n`;
    const toolCall = {
      toolCallId: 'change',
      title: 'Change the greeting',
      kind: 'edit',
      status: 'pending',
      locations: [{ path, line: 2 }],
      content: [{ type: 'diff', changes: [{ operation: 'modify', path }], patch: { format: 'git_patch', text: words } }],
    };
    const subject = { type: 'tool_call', toolCall };
    const answer = await ask(acp.methods.client.session.requestPermission, { title: 'May I change it?', subject, options: CHOICES });
    const allowed = chosen(answer).includes('allow');
    if (allowed) writeFileSync(path, whole.replace('hello world', 'hello peer'));
    await update('tool_call_update', { toolCallId: 'change', status: allowed ? 'completed' : 'failed' });
    await say(`Chosen: ${chosen(answer)}.`);
  },

  // Ask to run a command, and run it.
  async command(turn) {
    const { acp, ask, update, say, session } = turn;
    const command = 'printf "one\\ntw\\303\\266\\n"; exit 3';
    const subject = { type: 'command', command, cwd: session.cwd, toolCallId: 'run', terminalId: 't1' };
    const fields = { title: 'May I run this?', description: 'It only prints.', subject, options: CHOICES };
    const answer = await ask(acp.methods.client.session.requestPermission, fields);
    await update('tool_call_update', { toolCallId: 'run', title: 'Run it', kind: 'execute', status: 'in_progress', content: [{ type: 'terminal', terminalId: 't1' }] });
    await update('terminal_update', { terminalId: 't1', command, cwd: session.cwd, size: { cols: 80, rows: 24 }, output: { data: coded('from before\n') } });
    const code = await run(turn, 't1', command);
    await update('tool_call_update', { toolCallId: 'run', status: 'failed' });
    await say(`${chosen(answer)}, then ${code}`);
  },

  async anything({ acp, ask, say }) {
    const fields = { title: 'Shall I go on?', description: 'It is late.', options: CHOICES };
    await say(`Chosen: ${chosen(await ask(acp.methods.client.session.requestPermission, fields))}.`);
  },

  // Two commands that the user can end by themselves: one by its tool call, one by its terminal.
  async stoppable(turn) {
    const { update, say } = turn;
    for (const [id, capabilities, own] of [['whole', { cancel: {} }, null], ['shell', null, { cancel: {} }]]) {
      const terminalId = `terminal of ${id}`;
      const content = [{ type: 'terminal', terminalId }];
      await update('terminal_update', { terminalId, command: 'sleep 600', capabilities: own });
      await update('tool_call_update', { toolCallId: id, title: `Sleep ${id}`, kind: 'execute', status: 'in_progress', content, capabilities });
      await run(turn, terminalId, 'echo begun; sleep 600');
      await update('tool_call_update', { toolCallId: id, status: 'cancelled', capabilities: null });
    }
    await say('Both ended.');
  },

  // A command and a tool call that go on after the turn, until an option changes.
  async background(turn) {
    const { update, state, say, session } = turn;
    const work = [{ type: 'terminal', terminalId: 'far' }, { type: 'tool_call', toolCallId: 'far off' }];
    const content = [{ type: 'terminal', terminalId: 'far' }];
    await update('tool_call_update', { toolCallId: 'far off', title: 'Far off', kind: 'execute', status: 'in_progress', content });
    await update('terminal_update', { terminalId: 'far', command: 'far' });
    session.after = async () => {
      await new Promise((resolve) => (session.changed = resolve));
      await update('terminal_output_chunk', { terminalId: 'far', data: coded('it was done\n') });
      await update('terminal_update', { terminalId: 'far', exitStatus: { exitCode: 0 } });
      await update('tool_call_update', { toolCallId: 'far off', status: 'completed' });
      await state('running', { background: [] });
      await say('And that was the work far off.');
      await state('idle', { stopReason: 'end_turn', background: [] });
    };
    await say('It goes on.');
    return { stopReason: 'end_turn', background: work };
  },

  async form({ acp, ask, say }) {
    const string = (title, more) => ({ type: 'string', title, ...more });
    const properties = {
      name: string('Your name', { minLength: 2 }),
      mail: string('Mail', { format: 'email' }),
      site: string('Site', { format: 'uri', default: 'https://example.org/' }),
      day: string('Day', { format: 'date', default: '2026-01-02' }),
      at: string('At', { format: 'date-time', default: '2026-01-02T03:04:05Z' }),
      port: { type: 'integer', title: 'Port', minimum: 1, default: 8080 },
      ratio: { type: 'number', title: 'Ratio', maximum: 1, default: 0.5 },
      sure: { type: 'boolean', title: 'Sure', default: true },
      colour: string('Colour', { oneOf: [{ const: 'r', title: 'Red' }, { const: 'b', title: 'Blue' }], default: 'b' }),
      some: { type: 'array', title: 'Some', items: { type: 'string', enum: ['x', 'y'] }, default: ['y'] },
    };
    const requestedSchema = { type: 'object', title: 'A form', properties, required: ['name'] };
    const answer = await ask(acp.methods.client.elicitation.create, { mode: 'form', message: 'Please fill this in', requestedSchema });
    await say(JSON.stringify(answer));
  },

  async page({ acp, ask, client, say }) {
    const { create, complete } = acp.methods.client.elicitation;
    const elicitationId = 'page-1';
    const url = 'https://login.example.org/start?state=abc';
    const answer = await ask(create, { mode: 'url', message: 'Sign in there', elicitationId, url });
    if (answer.action === 'accept') await client.notify(complete, { elicitationId });
    await say(JSON.stringify(answer));
  },

  // Ask, and take the question back when the user has changed an option.
  async withdraw({ acp, ask, say, session }) {
    const taken = new AbortController();
    const toolCall = { toolCallId: 'perhaps', title: 'Perhaps', kind: 'execute' };
    const fields = { title: 'Perhaps?', subject: { type: 'tool_call', toolCall }, options: CHOICES };
    const asked = ask(acp.methods.client.session.requestPermission, fields, { cancellationSignal: taken.signal });
    await new Promise((resolve) => (session.changed = resolve));
    taken.abort();
    await say(`taken back: ${await outcome(asked)}`);
  },

  async extend({ client, say }) {
    await client.notify('_peer.example/note', { any: 'thing' });
    await say(`extension: ${await outcome(client.request('_peer.example/ask', { any: 'thing' }))}`);
  },

  async stop({ say, rest }) {
    await say('Enough.');
    return { stopReason: rest };
  },

  async fail({ acp }) {
    throw acp.RequestError.internalError({ reason: 'the model is out' }, 'the model is out');
  },

  // Until the user cancels; what was asked is taken back then.
  async wait({ acp, ask, update, say, cancelled }) {
    const toolCall = { toolCallId: 'wait', title: 'Wait for it', kind: 'execute', status: 'in_progress' };
    await update('tool_call_update', toolCall);
    const fields = { title: 'Wait?', subject: { type: 'tool_call', toolCall }, options: CHOICES };
    const asked = ask(acp.methods.client.session.requestPermission, fields, { cancellationSignal: cancelled });
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve));
    await say(`asked: ${await outcome(asked)}`);
    return { stopReason: 'cancelled' };
  },

  // What came in the prompt, by type.
  async received({ prompt, say }) {
    await say(prompt.map((block) => block.type).join(' '));
  },
};
