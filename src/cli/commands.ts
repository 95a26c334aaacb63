import { ABOUT_COMMANDS } from './about.ts'
import { AUDIT_COMMAND } from './audit.ts'
import { BACKUP_COMMANDS } from './backup.ts'
import { BRIDGE_COMMANDS } from './bridges.ts'
import type { Command, CommandGroup } from './command.ts'
import { COMPLETION_IDS_COMMAND } from './completion-ids.ts'
import { COMPLETIONS_COMMAND } from './completions.ts'
import { CONFIG_COMMANDS } from './config.ts'
import { DOCTOR_COMMAND } from './doctor.ts'
import { HELP_COMMAND } from './help.ts'
import { HOSTING_COMMANDS } from './hosting.ts'
import { KEY_COMMANDS } from './keys.ts'
import { LINE_COMMANDS } from './lines.ts'
import { MAC_PERMIT_COMMAND } from './mac-permit.ts'
import { MAC_TRACE_COMMAND } from './mac-trace.ts'
import { MESSAGE_COMMANDS } from './messages.ts'
import { SERVE_COMMAND } from './serve.ts'
import { SETUP_LINK_COMMAND } from './setup-link.ts'
import { TAIL_COMMAND } from './tail.ts'
import { CHECK_MIGRATIONS_COMMAND, UPGRADE_COMMAND } from './upgrade.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

/** Every command, in the order of the help, under its heading there. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { heading: 'Run it', commands: [SERVE_COMMAND, ...HOSTING_COMMANDS, SETUP_LINK_COMMAND] },
  { heading: 'Send and watch', commands: [...MESSAGE_COMMANDS, TAIL_COMMAND] },
  {
    heading: 'Find out what is wrong',
    commands: [DOCTOR_COMMAND, AUDIT_COMMAND, MAC_TRACE_COMMAND],
  },
  { heading: 'Lines', commands: [...LINE_COMMANDS, ...BRIDGE_COMMANDS] },
  { heading: 'Keys and webhooks', commands: [...KEY_COMMANDS, ...WEBHOOK_COMMANDS] },
  { heading: 'Backups and upgrades', commands: [...BACKUP_COMMANDS, UPGRADE_COMMAND] },
  {
    heading: 'Options and help',
    commands: [...CONFIG_COMMANDS, ...ABOUT_COMMANDS, COMPLETIONS_COMMAND, HELP_COMMAND],
  },
]

export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap(({ commands }) => commands)

/** What only another process of ours calls, or a shell that completes: neither the help nor the README tells of it. */
export const HIDDEN_COMMANDS: readonly Command[] = [
  CHECK_MIGRATIONS_COMMAND,
  MAC_PERMIT_COMMAND,
  COMPLETION_IDS_COMMAND,
]
