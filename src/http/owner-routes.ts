// Routes for the owner, over the control socket or signed in to the dashboard: never with a key.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { type Backup, type MadeBackup, NewBackup, NewValue, type Setting } from '../api/owner.ts'
import { Adoption } from '../api/phone-lines.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { shownSetting } from '../domain/setting.ts'
import type { Settings } from '../storage/settings.ts'
import { mayTake, takes } from './body.ts'
import { BY_ID, plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import { contextOf, originOf } from './request-context.ts'
import { respond } from './respond.ts'
import { pathSchema } from './typebox.ts'

export type OwnerActions = {
  readonly settings: Pick<Settings, 'list' | 'set'>
  /** Writes a verified backup to `to`, or among the daily ones. */
  readonly backUp: (to: string | null, origin: Origin) => Promise<MadeBackup>
  /** Records the download of a backup. */
  readonly noteDownload: (name: string, origin: Origin) => Promise<void>
}

export type ListBackups = () => readonly Backup[]

type Tools = OwnerActions & {
  readonly lines: Pick<PhoneLineActions, 'adopt'>
  /** Newest first. */
  readonly listBackups: ListBackups
}

const NamePath = Type.Object({ name: Type.String() })
const BY_NAME = { params: pathSchema(NamePath) }

export function ownerRoutes(tools: Tools) {
  const { lines, settings, backUp, listBackups } = tools
  return new Elysia({ prefix: '/api/v1' })
    .onBeforeHandle(plainCall)
    .post(
      '/phone-lines/:id/adopt',
      ({ request, params, body }) => lines.adopt(params.id, body.from, originOf(request)),
      { ...BY_ID, ...takes(Adoption) },
    )
    .get('/settings', ({ request }) => ({
      data: settings.list().map((setting) => shownTo(setting, request)),
    }))
    .put(
      '/settings/:name',
      async ({ params, body, request }) =>
        shownTo(await settings.set(params.name, body.value, originOf(request)), request),
      { ...BY_NAME, ...takes(NewValue) },
    )
    .get('/backups', () => ({ data: listBackups() }))
    .get(
      '/backups/:name',
      ({ params, request }) =>
        sendBackup(request, tools, { name: params.name, origin: originOf(request) }),
      { ...BY_NAME },
    )
    .post(
      '/backup',
      ({ request, body }) => {
        const { peer, caller } = contextOf(request)
        const to = body.to ?? null
        // A browser's session gives no access to the files of this machine.
        if (to !== null && caller?.kind !== 'cli') throw namesFile()
        // A large database takes longer to copy than a connection may stay silent.
        peer.liftTimeout(0)
        return backUp(to, originOf(request))
      },
      mayTake(NewBackup),
    )
}

/** Hides URLs with a key from browsers, which keep answers and show them on a screen. */
function shownTo(setting: Setting, request: Request): Setting {
  if (contextOf(request).caller?.kind === 'cli') return setting
  return { ...setting, value: shownSetting(setting.name, setting.value) }
}

/** Throws `not_found` for any other file than a listed backup. */
export function backupNamed(listBackups: ListBackups, name: string): Backup {
  const found = listBackups().find((backup) => backup.name === name)
  if (found === undefined) throw new RelayError('not_found', 'There is no backup of this name.')
  return found
}

/** The file itself, for a browser to save. */
export async function sendBackup(
  request: Request,
  tools: Pick<Tools, 'listBackups' | 'noteDownload'>,
  download: { readonly name: string; readonly origin: Origin },
): Promise<Response> {
  const { name, path } = backupNamed(tools.listBackups, download.name)
  await tools.noteDownload(name, download.origin)
  const { peer, requestId } = contextOf(request)
  peer.liftTimeout(0)
  const headers = {
    'content-type': 'application/vnd.sqlite3',
    'content-disposition': `attachment; filename="${name}"`,
  }
  return respond(Bun.file(path), { status: 200, requestId, headers })
}

function namesFile(): RelayError {
  const message = 'is for the command line: hookline backup --to FILE'
  return invalidRequest({ path: 'to', message })
}
