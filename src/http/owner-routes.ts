// Operations for the owner, on the control socket and in the dashboard. API keys can't call them.

import { CONTROL } from '../api/operations/control.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { OWNER } from '../api/operations/owner.ts'
import type { Backup, Setting } from '../api/owner.ts'
import type { Actor, Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { shownSetting } from '../domain/setting.ts'
import type { Core } from '../storage/core.ts'
import { sha256 } from '../system/hash.ts'
import { dropOldest } from '../system/memoize.ts'
import { bind, bindRemoval } from './bind.ts'
import { answerWithBytes, answerWithPieces } from './file-answer.ts'
import { fileBodyOf } from './file-body.ts'
import { posterPage } from './poster.ts'
import type { Relay } from './relay.ts'
import { contextOf, originOf } from './request-context.ts'
import { respondTo } from './respond.ts'

type Backups = Relay['backups']

const POSTER_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-disposition': 'attachment; filename="text-us.html"',
}

export function ownerBindings(
  { settings }: Core,
  relay: Pick<Relay, 'conversationChanges' | 'lines' | 'recent' | 'setSnooze' | 'updates'>,
) {
  return [
    bind(OWNER.adoptPhoneLine, ({ params, body, origin }) =>
      relay.lines.adopt(params.id, body.from, origin),
    ),
    bind(OWNER.movePhoneLine, ({ params, body, origin }) =>
      relay.lines.move(params.id, body.to, origin),
    ),
    bind(OWNER.getPoster, ({ request, params }) => {
      const line = relay.lines.list().find(({ id }) => id === params.id)
      if (line === undefined)
        throw new RelayError('not_found', 'There is no phone line with this id.')
      return respondTo(request, posterPage(line), { headers: POSTER_HEADERS })
    }),
    bind(OWNER.separateConversation, ({ params, origin }) =>
      relay.conversationChanges.separate(params.id, origin),
    ),
    bind(OWNER.listSettings, ({ request }) => ({
      data: settings.list().map((setting) => shownTo(setting, request)),
    })),
    bind(OWNER.putSetting, async ({ params, body, request, origin }) =>
      shownTo(await settings.set(params.name, body.value, origin), request),
    ),
    bind(OWNER.putSnooze, ({ body, origin }) => relay.setSnooze(body, origin)),
    bind(OWNER.getLog, () => relay.recent.read()),
    bind(OWNER.getUpdateState, () => relay.updates.updateState()),
    bind(OWNER.checkUpdate, () => relay.updates.checkUpdate()),
  ]
}

export function backupBindings(backups: Backups) {
  return [
    bind(OWNER.listBackups, () => ({ data: backups.list() })),
    bind(OWNER.downloadBackup, ({ params, request }) =>
      sendBackup(request, backups, backupNamed(backups, params.name)),
    ),
    bind(OWNER.createBackup, ({ request, body, origin }) => {
      const { peer, caller } = contextOf(request)
      const to = body.to ?? null
      // A browser's session must not write files on this machine.
      if (to !== null && caller?.kind !== 'cli') {
        const message = 'is for the command line: hookline backup --to FILE'
        throw invalidRequest({ path: 'to', message })
      }
      // Copying a large database takes longer than a connection may stay silent.
      peer.liftTimeout(0)
      const wish = { to, withoutAttachments: body.without_attachments }
      return backups.backUp(wish, origin)
    }),
  ]
}

/** `params.id` may also be the name of a box. */
export function boxBindings({ boxes, lines }: Pick<Relay, 'boxes' | 'lines'>) {
  return [
    bind(OWNER.listBoxes, () => ({ data: boxes.list() })),
    bind(OWNER.listBrokerUsers, async () => ({ users: await boxes.brokerUsers() })),
    bind(OWNER.inviteBox, ({ body, origin }) => boxes.add(body.name, origin)),
    bind(OWNER.renameBox, ({ params, body, origin }) => boxes.rename(params.id, body.name, origin)),
    bind(OWNER.deleteBox, async ({ params, origin }) => {
      const id = await boxes.remove(params.id, origin)
      await lines.stay(id, origin)
      return { id, deleted: true as const }
    }),
  ]
}

/** The upgrade of boxes, on the control socket only, because it may install unsigned executables. */
export function rolloutBindings({ rollout }: Relay['boxes']) {
  return [
    bind(CONTROL.getRollout, () => ({ rollout: rollout.current() })),
    bind(CONTROL.startRollout, ({ body, origin }) => rollout.start(body, origin)),
    bind(CONTROL.resumeRollout, ({ origin }) => rollout.resume(origin)),
    bind(CONTROL.cancelRollout, ({ origin }) => rollout.cancel(origin)),
  ]
}

export function memberBindings(access: Relay['access']) {
  const { members } = access
  return [
    bind(OWNER.listMembers, () => ({ data: members.list() })),
    bind(OWNER.createMember, async ({ body, origin }) => {
      const { member, link } = await members.add(body, origin)
      return { ...member, link: access.linkOf(link) }
    }),
    bind(OWNER.renewMemberLink, async ({ params, origin }) => {
      const { member, link } = await members.renewLink(params.id, origin)
      return { ...member, link: access.linkOf(link) }
    }),
    bind(OWNER.updateMember, ({ params, body, origin }) => members.limit(params.id, body, origin)),
    bindRemoval(OWNER.deleteMember, members),
  ]
}

/** Hides URLs with a key from browsers, which cache answers and show them on a screen. */
function shownTo(setting: Setting, request: Request): Setting {
  if (contextOf(request).caller?.kind === 'cli') return setting
  return { ...setting, value: shownSetting(setting.name, setting.value) }
}

/** Throws `not_found` unless the file is a listed backup. */
function backupNamed(backups: Backups, name: string): Backup {
  const found = backups.list().find((backup) => backup.name === name)
  if (found === undefined) throw new RelayError('not_found', 'There is no backup of this name.')
  return found
}

async function sendBackup(
  request: Request,
  backups: Backups,
  { name, path, size_bytes: size }: Backup,
  origin: Origin = originOf(request),
): Promise<Response> {
  await backups.noteDownload(name, origin)
  const headers = {
    'content-type': 'application/vnd.sqlite3',
    'content-disposition': `attachment; filename="${name}"`,
  }
  return answerWithBytes(request, { path, first: 0, last: size - 1 }, { headers })
}

/** Streams everything as one archive while it is made. */
async function sendArchive(request: Request, backups: Backups, origin: Origin): Promise<Response> {
  const name = backups.archiveName()
  await backups.noteDownload(name, origin)
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${name}"`,
  }
  return answerWithPieces(request, { headers }, backups.archive)
}

// Downloads of backups. A browser can't send the page key with a download, so the URL carries a ticket. It is
// created for a signed-in browser after the password, and works once, for a minute.

/** `backup` is null for the archive of everything. */
type Granted = { readonly backup: string | null; readonly actor: Actor }
type Ticket = Granted & { readonly until: number }

const TICKET_LIFE_MS = 60_000
const TICKETS_MAX = 20

export function downloadBindings(core: Core, backups: Backups) {
  const tickets = new Tickets(core)
  return [
    bind(DASHBOARD.createDownload, ({ body, origin }) => {
      if (body.backup === null) backups.archiveName()
      else backupNamed(backups, body.backup)
      const ticket = tickets.make({ backup: body.backup, actor: origin.actor })
      return { url: `/dashboard/downloads/${ticket}` }
    }),
    bind(DASHBOARD.download, ({ request, params }) => {
      const granted = tickets.take(params.ticket)
      if (granted === null) throw new RelayError('not_found', TICKET_OVER)
      const origin = { ...originOf(request), actor: granted.actor }
      const { backup: name } = granted
      if (name === null) return sendArchive(request, backups, origin)
      return sendBackup(request, backups, backupNamed(backups, name), origin)
    }),
  ]
}

const TICKET_OVER = 'This download was already started, or its link has expired. Start it again.'

/** The newest 20 tickets, by their hash in hexadecimal. */
class Tickets {
  readonly #core: Core
  readonly #good = new Map<string, Ticket>()

  constructor(core: Core) {
    this.#core = core
  }

  make(granted: Granted): string {
    const { clock, random } = this.#core
    const ticket = Buffer.from(random.bytes(32)).toString('base64url')
    this.#good.set(nameOf(ticket), { ...granted, until: clock.monotonic() + TICKET_LIFE_MS })
    dropOldest(this.#good, TICKETS_MAX)
    return ticket
  }

  /** Uses up the ticket; returns null if it isn't valid. */
  take(ticket: string): Granted | null {
    const name = nameOf(ticket)
    const found = this.#good.get(name)
    this.#good.delete(name)
    return found !== undefined && found.until > this.#core.clock.monotonic() ? found : null
  }
}

function nameOf(ticket: string): string {
  return Buffer.from(sha256(ticket)).toString('hex')
}

/** A restore from the dashboard: upload, preview and start. */
export function restoreBindings(restoring: Relay['restoring']) {
  return [
    bind(DASHBOARD.getRestore, () => restoring.state()),
    bind(DASHBOARD.uploadBackup, async ({ request, query }) => {
      // The upload of a large file and its check may take any time.
      contextOf(request).peer.liftTimeout(0)
      return restoring.receive((await fileBodyOf(request)).bytes, query.filename)
    }),
    bind(DASHBOARD.startRestore, ({ body, origin }) => {
      restoring.start(body.id, origin)
      return { restoring: true as const }
    }),
    bind(DASHBOARD.discardRestore, async () => {
      await restoring.discard()
      return { deleted: true as const }
    }),
  ]
}
