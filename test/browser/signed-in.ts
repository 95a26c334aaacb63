// The data of a relay whose owner has a password and is signed in, made once for all tests of a process: each
// hash of a password takes a tenth of a second.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

export const PASSWORD = 'correct horse battery'

/** What a browser keeps of a sign-in. */
export type Session = {
  readonly cookie: { readonly name: string; readonly value: string }
  readonly pageKey: string
}

export type SignedIn = {
  /** Two browsers are signed in, for what one of them does is seen in the other. */
  readonly sessions: readonly [Session, Session]
  /** Puts the data into a data directory. */
  readonly copyTo: (dataDir: string) => void
}

let made: Promise<SignedIn> | null = null

export function signedIn(): Promise<SignedIn> {
  made ??= make()
  return made
}

async function make(): Promise<SignedIn> {
  using dir = temporaryDataDir()
  const passwordFile = join(dir.path, 'password-to-take')
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 })
  const environment = { HOOKLINE_ADMIN_PASSWORD_FILE: passwordFile }
  await using relay = await RelayProcess.start({ dataDir: dir.path, environment })
  const sessions = [await signIn(relay.url), await signIn(relay.url)] as const
  await relay.end()

  const files = readdirSync(dir.path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, bytes: readFileSync(join(dir.path, name)) }))
  const copyTo = (dataDir: string) => {
    for (const { name, bytes } of files) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 })
  }
  return { sessions, copyTo }
}

async function signIn(url: string): Promise<Session> {
  const answer = await fetch(`${url}/dashboard/session`, {
    method: 'POST',
    body: JSON.stringify({ password: PASSWORD }),
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`The sign-in was refused: ${await answer.text()}`)
  const { page_key } = (await answer.json()) as { readonly page_key: string } // As its schema says.
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  const [name = '', value = ''] = cookie.split('=')
  return { cookie: { name, value }, pageKey: page_key }
}
