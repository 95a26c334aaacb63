// Stands for osascript, open and pgrep: `messages-tool.ts <socket> <tool> <argument>...` informs Messages in
// its own process how it was called, and ends as that says.

import { askMessages, TOOL_PATH, type ToolCall, type ToolEnd } from '../messages-control.ts'

const [socket = '', tool = '', ...args] = process.argv.slice(2)
const call: ToolCall = { tool, args, stdin: await Bun.stdin.text() }
const end = (await askMessages(socket, TOOL_PATH, call)) as ToolEnd // What messages-process.ts answers.
await Bun.write(Bun.stdout, end.stdout)
await Bun.write(Bun.stderr, end.stderr)
process.exit(end.exitCode)
