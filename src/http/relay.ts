// The modules of a relay that HTTP serves, and facts about this start.

import type { Access } from '../access/access.ts'
import type { createAlerts } from '../alerts/alerts.ts'
import type { OptionRow } from '../api/owner.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { BoxActions } from '../boxes/admin.ts'
import type { Config } from '../config.ts'
import type { Days } from '../domain/days.ts'
import type { HealthCatalogue } from '../health/catalogue.ts'
import type { SetSnooze } from '../health/snoozes.ts'
import type { createUpdateCheck } from '../hosting/update-check.ts'
import type { createCredentials } from '../keys/credentials.ts'
import type { Authenticate } from '../keys/last-used.ts'
import type { createLineActions } from '../lines/line-actions.ts'
import type { CreatedKinds } from '../lines/line-kind.ts'
import type { Sites } from '../lines/sites.ts'
import type { createBackups } from '../maintenance/backups.ts'
import type { createRestoring } from '../maintenance/restoring.ts'
import type { ConversationChanges } from '../messages/conversations.ts'
import type { Decisions } from '../messages/decisions.ts'
import type { OptOuts } from '../messages/opt-outs.ts'
import type { Reading } from '../messages/reading.ts'
import type { Routing } from '../messages/routing.ts'
import type { Sender } from '../messages/send.ts'
import type { Contacts } from '../people/contacts.ts'
import type { Charts } from '../stats/charts.ts'
import type { RecentLines } from '../system/log.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Signal } from '../system/signal.ts'
import type { ReadTimeline } from '../timeline/timeline.ts'
import type { EventLog } from '../webhooks/event-log.ts'
import type { createWebhooks } from '../webhooks/webhooks.ts'
import type { Binding } from './bind.ts'
import type { Hosts } from './hosts.ts'

export type Relay = {
  readonly alerts: ReturnType<typeof createAlerts>['actions']
  readonly access: Access
  /** The URL that the relay listens on. */
  readonly address: () => string
  readonly attachments: Attachments
  readonly authenticate: Authenticate
  readonly backups: ReturnType<typeof createBackups>
  readonly boxes: BoxActions
  readonly charts: Charts
  readonly config: Config
  /** Confirms that this start is healthy; undefined if no upgrade waits for that. */
  readonly confirmHealthy: (() => void) | undefined
  readonly contacts: Contacts
  readonly conversationChanges: ConversationChanges
  readonly credentials: ReturnType<typeof createCredentials>
  readonly days: Days
  readonly decisions: Decisions
  readonly disk: { readonly isLow: boolean }
  /** Notified at unknown errors, because the database may be damaged. */
  readonly doubtSignal: Signal
  readonly eventLog: EventLog
  /** Operations that only the relay of `hookline fake` has; null in every other relay. */
  readonly fakeBindings: readonly Binding[] | null
  readonly health: HealthCatalogue
  readonly hosts: Hosts
  readonly kinds: CreatedKinds
  readonly life: { readonly phase: Phase }
  readonly lines: ReturnType<typeof createLineActions>
  readonly metrics: Metrics
  readonly optOuts: OptOuts
  /** The options of this start, with secrets hidden. */
  readonly options: readonly OptionRow[]
  readonly reading: Reading
  readonly recent: RecentLines
  readonly restoring: ReturnType<typeof createRestoring>
  readonly routing: Pick<Routing, 'preview'>
  readonly sender: Sender
  /** The URL of the API for generated clients. */
  readonly serverUrl: () => string
  readonly setSnooze: SetSnooze
  readonly sites: Sites
  readonly timeline: ReadTimeline
  readonly updates: ReturnType<typeof createUpdateCheck>
  readonly webhooks: ReturnType<typeof createWebhooks>['actions']
}

/** In `checking`, the startup check, the database is open and only the listener runs. */
export type Phase = 'starting' | 'checking' | 'running' | 'stopping'
