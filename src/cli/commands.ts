import { ABOUT_COMMANDS } from './about.ts'
import { BACKUP_COMMANDS } from './backup.ts'
import type { Command } from './command.ts'
import { COMPLETIONS_COMMAND } from './completions.ts'
import { CONFIG_COMMANDS } from './config.ts'
import { HELP_COMMAND } from './help.ts'
import { KEY_COMMANDS } from './keys.ts'
import { LINE_COMMANDS } from './lines.ts'
import { MESSAGE_COMMANDS } from './messages.ts'
import { SERVE_COMMAND } from './serve.ts'
import { TAIL_COMMAND } from './tail.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  SERVE_COMMAND,
  ...KEY_COMMANDS,
  ...LINE_COMMANDS,
  ...MESSAGE_COMMANDS,
  TAIL_COMMAND,
  ...WEBHOOK_COMMANDS,
  ...BACKUP_COMMANDS,
  ...CONFIG_COMMANDS,
  ...ABOUT_COMMANDS,
  COMPLETIONS_COMMAND,
  HELP_COMMAND,
]
