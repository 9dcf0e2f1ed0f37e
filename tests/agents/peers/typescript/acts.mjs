// What the agent does when a prompt says "do NAME": each uses the SDK as an agent of the field would.

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

// The outcome of a request, in words that can be looked for.
async function outcome(asked) {
  try {
    return `result ${JSON.stringify(await asked)}`;
  } catch (error) {
    return `error ${error.code}`;
  }
}

export const acts = {
  async answer({ say, rest }) {
    await say(`You said: ${rest}`);
  },

  async talk({ update, rest, prompt }) {
    await update('user_message_chunk', { content: prompt.at(-1) });
    await update('agent_thought_chunk', { content: text('Let me think.'), messageId: 't' });
    await update('agent_message_chunk', { content: text('One '), messageId: 'a' });
    await update('agent_message_chunk', { content: text('message.'), messageId: 'a' });
    await update('agent_message_chunk', { content: text(`Another, ${rest}.`), messageId: 'b' });
  },

  async blocks({ update, session }) {
    const uri = `file://${join(session.cwd, 'README.md')}`;
    const blocks = [
      { ...text('Here is a picture:'), annotations: { audience: ['user'] } },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: SOUND, mimeType: 'audio/wav' },
      { type: 'resource_link', uri, name: 'README.md', size: 17, mimeType: 'text/markdown' },
      { type: 'resource', resource: { uri: 'memory:///notes.txt', text: 'noted', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'memory:///raw', blob: PIXEL, mimeType: 'application/octet-stream' } },
      { ...text('only for the model'), annotations: { audience: ['assistant'], priority: 0.5 } },
    ];
    for (const content of blocks) await update('agent_message_chunk', { content });
  },

  async tools({ update, session }) {
    for (const kind of KINDS) {
      await update('tool_call', { toolCallId: kind, title: `Title of ${kind}`, name: `tool_${kind}`, kind, status: 'pending' });
    }
    for (const kind of KINDS) await update('tool_call_update', { toolCallId: kind, status: 'in_progress' });
    await update('tool_call_update', {
      toolCallId: 'read',
      status: 'completed',
      locations: [{ path: join(session.cwd, 'src/main.py'), line: 2 }],
      rawInput: { path: 'src/main.py' },
      rawOutput: ['two', 2, null],
    });
    await update('tool_call_update', {
      toolCallId: 'edit',
      status: 'completed',
      content: [{ type: 'diff', path: join(session.cwd, 'made.txt'), oldText: null, newText: 'all new\n' }],
    });
    await update('tool_call_update', { toolCallId: 'execute', status: 'failed', content: [inside(text('it broke'))] });
    for (const kind of KINDS.filter((each) => !['read', 'edit', 'execute'].includes(each))) {
      await update('tool_call_update', { toolCallId: kind, status: 'completed', title: `Titled ${kind}` });
    }
  },

  async plan({ update, say }) {
    const entry = (content, priority, status) => ({ content, priority, status });
    const first = entry('Look around', 'high', 'in_progress');
    const rest = [entry('Do it', 'medium', 'pending'), entry('Rest', 'low', 'pending')];
    await update('plan', { entries: [first, ...rest] });
    await say('One of three.');
    await update('plan', { entries: [{ ...first, status: 'completed' }, ...rest] });
  },

  async state({ update, options, say }) {
    await update('available_commands_update', { availableCommands: [{ name: 'fresh', description: 'came later' }] });
    await update('session_info_update', { title: 'A title of its own', updatedAt: '2026-05-06T07:08:09Z' });
    await update('usage_update', { used: 1200, size: 4800, cost: { amount: 0.25, currency: 'EUR' } });
    if (process.env.PEER_MODES) await update('current_mode_update', { currentModeId: 'code' });
    else await update('config_option_update', { configOptions: options({ mode: 'code', model: 'large' }) });
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

  // Ask for a change, and make it if it is allowed: what is asked is read from the editor before.
  async edit({ acp, ask, update, say, session }) {
    const { fs, session: own } = acp.methods.client;
    const path = join(session.cwd, 'greeting.txt');
    const { content: whole } = await ask(fs.readTextFile, { path });
    const { content: second } = await ask(fs.readTextFile, { path, line: 2, limit: 1 });
    const newText = whole.replace('hello world', 'hello peer');
    const call = {
      toolCallId: 'change',
      title: 'Change the greeting',
      kind: 'edit',
      locations: [{ path, line: 2 }],
      content: [{ type: 'diff', path, oldText: whole, newText }],
    };
    await update('tool_call', { ...call, status: 'pending' });
    const answer = await ask(own.requestPermission, { toolCall: call, options: CHOICES });
    const chosen = answer.outcome.optionId ?? answer.outcome.outcome;
    if (chosen.includes('allow')) {
      await ask(fs.writeTextFile, { path, content: newText });
      await ask(fs.writeTextFile, { path: join(session.cwd, 'deep/new.txt'), content: 'nothing ends this' });
    }
    await update('tool_call_update', { toolCallId: 'change', status: chosen.includes('allow') ? 'completed' : 'failed' });
    await say(`Second line: ${second.trim()}. Chosen: ${chosen}.`);
  },

  async missing({ acp, ask, say, session }) {
    const { readTextFile } = acp.methods.client.fs;
    await say(`absent: ${await outcome(ask(readTextFile, { path: join(session.cwd, 'absent') }))}\n`);
    await say(`relative: ${await outcome(ask(readTextFile, { path: 'greeting.txt' }))}`);
  },

  async terminal({ client, sessionId, update, say, session }) {
    const terminal = await client.createTerminal({
      sessionId,
      command: 'sh',
      args: ['-c', 'printf "%s\\n" "$GREETING" "$PWD"; seq 1 400; exit 3'],
      env: [{ name: 'GREETING', value: 'from the peer' }],
      cwd: join(session.cwd, 'src'),
      outputByteLimit: 64,
    });
    const content = [{ type: 'terminal', terminalId: terminal.id }];
    await update('tool_call', { toolCallId: 'run', title: 'Run it', kind: 'execute', status: 'in_progress', content });
    const exit = await terminal.waitForExit();
    const output = await terminal.currentOutput();
    await terminal.release();
    await update('tool_call_update', { toolCallId: 'run', status: 'failed' });
    await say(`${JSON.stringify(exit)} truncated ${output.truncated} ${JSON.stringify(output.output.slice(-8))}`);
  },

  async kill({ acp, client, sessionId, update, say, ask }) {
    const terminal = await client.createTerminal({ sessionId, command: 'sh', args: ['-c', 'echo begun; sleep 600'] });
    const content = [{ type: 'terminal', terminalId: terminal.id }];
    await update('tool_call', { toolCallId: 'long', title: 'Run long', kind: 'execute', status: 'in_progress', content });
    let output = { output: '' };
    while (!output.output.includes('begun')) output = await terminal.currentOutput();
    const waiting = terminal.waitForExit();
    await terminal.kill();
    const exit = await waiting;
    const after = await terminal.currentOutput();
    await terminal.release();
    const gone = await outcome(ask(acp.methods.client.terminal.output, { terminalId: terminal.id }));
    await update('tool_call_update', { toolCallId: 'long', status: 'completed' });
    await say(`${JSON.stringify(exit)} ${JSON.stringify(after.exitStatus)} ${gone}`);
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
      size: string('Size', { enum: ['s', 'm'], default: 'm' }),
      some: { type: 'array', title: 'Some', items: { type: 'string', enum: ['x', 'y'] }, default: ['y'] },
      more: { type: 'array', title: 'More', items: { anyOf: [{ const: 'p', title: 'Pea' }, { const: 'q', title: 'Cue' }] }, default: ['q'] },
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
    const { requestPermission } = acp.methods.client.session;
    const asked = ask(requestPermission, { toolCall, options: CHOICES }, { cancellationSignal: taken.signal });
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
    return rest;
  },

  async fail({ acp }) {
    throw acp.RequestError.internalError({ reason: 'the model is out' }, 'the model is out');
  },

  // Until the user cancels; what is asked then is answered all the same.
  async wait({ acp, ask, update, say, cancelled }) {
    const toolCall = { toolCallId: 'wait', title: 'Wait for it', kind: 'execute' };
    await update('tool_call', { ...toolCall, status: 'in_progress' });
    const asked = ask(acp.methods.client.session.requestPermission, { toolCall, options: CHOICES });
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve));
    await say(`asked: ${await outcome(asked)}`);
    return 'cancelled';
  },

  // What came in the prompt, by type.
  async received({ prompt, say }) {
    await say(prompt.map((block) => block.type).join(' '));
  },
};
