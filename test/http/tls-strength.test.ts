// What HTTPS refuses, and who else can read its key.

import { afterAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'

import { listen } from '../../src/http/listener.ts'
import type { Http } from '../../src/http/server.ts'
import { TlsWatch } from '../../src/http/tls.ts'
import { silentLog } from '../../src/system/log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

const folder = new ScratchFolder()
afterAll(() => folder[Symbol.dispose]())
const http = { fetch: async () => new Response('here'), endStreams() {} } as unknown as Http // Nothing else is called.

type KeyKind = 'rsa' | 'ec'

function makePair(kind: KeyKind) {
  mkdirSync(folder.file(kind), { mode: 0o755 })
  const [tlsCert, tlsKey] = [folder.file(`${kind}/cert.pem`), folder.file(`${kind}/key.pem`)]
  const algorithm = kind === 'rsa' ? 'rsa:2048' : 'ec -pkeyopt ec_paramgen_curve:prime256v1'
  const request = `openssl req -x509 -nodes -days 90 -subj /CN=localhost -newkey ${algorithm}`
  const made = Bun.spawnSync([...request.split(' '), '-keyout', tlsKey, '-out', tlsCert])
  if (made.exitCode !== 0) throw new Error(made.stderr.toString())
  return { tlsCert, tlsKey }
}
const FILES = { rsa: makePair('rsa'), ec: makePair('ec') }

/** The cipher that a client agrees on with the relay which may use only this one; null for none. */
async function agreed(port: number, version: 'tls1_2' | 'tls1_3', cipher: string | null) {
  const limits = [`-${version}`, ...(cipher === null ? [] : ['-cipher', cipher])]
  const client = Bun.spawn(['openssl', 's_client', '-connect', `127.0.0.1:${port}`, ...limits], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const found = /Cipher is ([\w-]+)/.exec(await new Response(client.stdout).text())?.[1]
  return found ?? null
}

const WEAK: readonly (readonly [KeyKind, string])[] = [
  ['rsa', 'AES128-SHA'],
  ['rsa', 'AES256-GCM-SHA384'],
  ['rsa', 'ECDHE-RSA-AES128-SHA'],
  ['ec', 'ECDHE-ECDSA-AES256-SHA'],
]
const STRONG: readonly (readonly [KeyKind, string])[] = [
  ['rsa', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['ec', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['ec', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
]

test('HTTPS has forward secrecy in each version, with the same certificate after a renewal', async () => {
  const watches = Object.values(FILES).map((files) => {
    const place = { ...files, host: '127.0.0.1', publicUrl: null }
    const { core } = openTestStorage(':memory:', new TestClock(Date.now()))
    return new TlsWatch(core, place, () => {})
  })
  const listeners = watches.map(({ pair }) =>
    listen(http, { host: '127.0.0.1', port: 0, tls: pair, log: silentLog }),
  )
  const [rsa, ec] = listeners
  const portOf = (kind: KeyKind) => (kind === 'rsa' ? rsa : ec)?.port ?? 0
  const tried = (rows: typeof WEAK) =>
    Promise.all(rows.map(([kind, cipher]) => agreed(portOf(kind), 'tls1_2', cipher)))

  const before = [await tried(WEAK), await tried(STRONG)]
  const [watch] = watches
  if (watch?.pair) rsa?.renew(watch.pair)
  const after = [await tried(WEAK), await tried(STRONG)]
  const newest = await agreed(portOf('rsa'), 'tls1_3', null)
  await Promise.all(listeners.map((one) => one.stop(0)))

  const wanted = [WEAK.map(() => null), STRONG.map(([, cipher]) => cipher)]
  expect(before).toEqual(wanted)
  expect(after).toEqual(wanted)
  expect(newest).toStartWith('TLS_')
})

test('a key that every user can read is a finding, unless its folder keeps them out', () => {
  const { tlsCert, tlsKey } = FILES.ec
  const place = { tlsCert, tlsKey, host: '127.0.0.1', publicUrl: null }
  const { core } = openTestStorage(':memory:', new TestClock(Date.now()))
  const watch = new TlsWatch(core, place, () => {})
  const codesAt = (mode: number, outer: number) => {
    chmodSync(tlsKey, mode)
    chmodSync(folder.file('ec'), outer)
    return watch.findings().map(({ code }) => code)
  }
  chmodSync(folder.path, 0o755)

  expect([codesAt(0o600, 0o755), codesAt(0o640, 0o755)]).toEqual([[], []])
  expect(codesAt(0o644, 0o700)).toEqual([])
  expect(codesAt(0o644, 0o755)).toEqual(['tls_key_readable'])
  expect(watch.findings()[0]?.fix).toContain(tlsKey)
  expect(readFileSync(tlsKey, 'utf8')).toContain('PRIVATE KEY')
})
