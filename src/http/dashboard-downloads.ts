// Backups for the browser to download. A download sends no header of the page, so the address carries a
// ticket: created for a browser that is signed in and gave the password, valid once, for a minute.

import { Elysia } from 'elysia'

import { WantedBackup } from '../api/dashboard.ts'
import type { Actor } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'
import { takes } from './body.ts'
import { plainCall } from './operation.ts'
import { backupNamed, sendBackup, type ListBackups, type OwnerActions } from './owner-routes.ts'
import { requireNoQuery } from './query.ts'
import { originOf } from './request-context.ts'

export type DownloadTools = {
  readonly clock: Clock
  readonly random: Random
  /** Newest first. */
  readonly listBackups: ListBackups
  readonly noteDownload: OwnerActions['noteDownload']
}

type Granted = { readonly backup: string; readonly actor: Actor }
type Ticket = Granted & { readonly until: number }

const TICKET_BYTES = 32
const TICKET_LIFE_MS = 60_000
const TICKETS_MAX = 20

export function downloadRoutes(tools: DownloadTools) {
  const tickets = new Tickets(tools)
  return new Elysia({ prefix: '/dashboard' })
    .post(
      '/downloads',
      ({ request, body }) => {
        const { name } = backupNamed(tools.listBackups, body.backup)
        const ticket = tickets.make({ backup: name, actor: originOf(request).actor })
        return { url: `/dashboard/downloads/${ticket}` }
      },
      { beforeHandle: plainCall, ...takes(WantedBackup) },
    )
    .get('/downloads/:ticket', ({ request, params }) => {
      requireNoQuery(request)
      const granted = tickets.take(params.ticket)
      if (granted === null) throw ticketOver()
      const origin = { ...originOf(request), actor: granted.actor }
      return sendBackup(request, tools, { name: granted.backup, origin })
    })
}

/** Valid tickets by their hash in hexadecimal: 20 at most, the newest ones. */
class Tickets {
  readonly #tools: Pick<DownloadTools, 'clock' | 'random'>
  readonly #good = new Map<string, Ticket>()

  constructor(tools: Pick<DownloadTools, 'clock' | 'random'>) {
    this.#tools = tools
  }

  make(granted: Granted): string {
    const { clock, random } = this.#tools
    const ticket = Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url')
    const [oldest] = this.#good.keys()
    if (this.#good.size >= TICKETS_MAX && oldest !== undefined) this.#good.delete(oldest)
    this.#good.set(nameOf(ticket), { ...granted, until: clock.monotonic() + TICKET_LIFE_MS })
    return ticket
  }

  /** Uses up the ticket; null where it is not valid, or no longer. */
  take(ticket: string): Granted | null {
    const name = nameOf(ticket)
    const found = this.#good.get(name)
    this.#good.delete(name)
    return found !== undefined && found.until > this.#tools.clock.monotonic() ? found : null
  }
}

function nameOf(ticket: string): string {
  return Buffer.from(sha256(ticket)).toString('hex')
}

function ticketOver(): RelayError {
  const message = 'This download was already started, or its link has expired. Start it again.'
  return new RelayError('not_found', message)
}
