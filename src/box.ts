// The root of a box: the drivers of this machine's devices, their journal, and the agent that runs them for a head.
// It has a control socket for the owner's commands, but no HTTP port and no database of messages.

import { X509Certificate } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { platform, release } from 'node:os'
import { join } from 'node:path'

import type { BoxFinding, BoxReport } from './api/boxes.ts'
import { BoxAgent } from './boxes/box-agent.ts'
import { keepHeadKey, type BoxFile } from './boxes/box-file.ts'
import { BoxUpgrade, type SelfUpgrade } from './boxes/box-upgrade.ts'
import { inboxOf } from './boxes/broker-config.ts'
import { openJournal } from './boxes/journal.ts'
import { SUBJECTS } from './boxes/link.ts'
import type { NatsLink } from './boxes/nats-link.ts'
import { publicKeyOf } from './boxes/nkeys.ts'
import { SignedLink } from './boxes/signed-link.ts'
import { ask } from './boxes/wire.ts'
import type { Config } from './config.ts'
import { createLineKinds } from './devices.ts'
import type { Finding } from './domain/finding.ts'
import { timestamp } from './domain/ids.ts'
import type { Found, LineDriver } from './lines/driver.ts'
import type { Clock } from './system/clock.ts'
import { openDataDirectory } from './system/data-directory.ts'
import { freeBytes } from './system/files.ts'
import { takeInstanceLock } from './system/instance-lock.ts'
import { isoTime, isoTimeOrNull } from './system/iso-time.ts'
import type { Log } from './system/log.ts'
import { hardwareId } from './system/own-process.ts'
import type { Random } from './system/random.ts'
import { runServices, type Service } from './system/service.ts'
import { PLATFORM, VERSION } from './system/version.ts'

/** The parts of a box that come from outside, which a test replaces. */
export type BoxOutside = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly restart: ((why: string) => void) | null
  /** Findings about the machine. */
  readonly checkHost: (signal: AbortSignal) => Promise<readonly Finding[]>
  readonly companions: readonly Service[]
  readonly selfUpgrade: SelfUpgrade
}

export type Box = {
  report(): Promise<BoxReport>
  /** Announces to the head that the box leaves, lets granted sends end, and closes everything. */
  stop(): Promise<void>
}

const REPORT_MS = 5_000
/** Time for half a megabyte over a slow connection. */
const CHUNK_MS = 30_000

/** Takes the data directory and runs; throws if another process has it, or if it is a relay's. */
export async function startBox(config: Config, file: BoxFile, outside: BoxOutside): Promise<Box> {
  const { clock, random, log, restart, companions } = outside
  const directory = openDataDirectory(config.dataDir)
  const lock = takeInstanceLock(directory.lock, { since: clock.now(), task: 'box', address: null })
  const none = () => []
  const host = { directory, clock, relayClock: clock, random, log, restart, callers: none }
  const kinds = createLineKinds(config, host, { lines: none })
  const drivers = kinds.drivers
    .filter(({ kind }) => kinds.deviceKinds.includes(kind))
    .map((driver, index) => shared(driver, index === 0 ? outside.checkHost : async () => []))
  const journal = openJournal(directory.boxDatabase, { clock, random, machine: hardwareId() })
  const connection = await connect(file, outside)
  const link = await signed(connection, file, directory.boxFile, outside)
  const upgrade = new BoxUpgrade(outside.selfUpgrade, {
    clock,
    log,
    version: VERSION,
    folder: join(directory.path, 'download'),
    fetch(request, epoch) {
      const subject = SUBJECTS.up(String(Math.max(epoch, journal.fence)), file.box_id)
      return ask({ link, subject, timeoutMs: CHUNK_MS }, 'release_file', request)
    },
  })
  const folder = join(directory.path, 'box-files')
  const box = { id: file.box_id, link, journal, clock, log, folder }
  const system = `${platform()} ${release()}`
  const facts = () => ({
    version: VERSION,
    platform: PLATFORM,
    health: { freeBytes: freeBytes(directory.path), system },
  })
  const agent = new BoxAgent(box, { facts, drivers, upgrade })
  const services = [...kinds.services, ...companions, agent, upgrade]
  const running = runServices(services, { clock, log })
  const report = () => reportOf({ file, connection, link, agent, drivers })
  const socket = answerOwner(directory.controlSocket, report, () => notReady(agent, upgrade))
  return {
    report,
    async stop() {
      await running.stop()
      await socket.stop(true)
      rmSync(directory.controlSocket, { force: true })
      await link.close()
      journal.close()
      lock.release()
    },
  }
}

/** Answers the owner's commands on a Unix socket that only its owner can open. */
function answerOwner(
  path: string,
  report: () => Promise<BoxReport>,
  notReady: () => string | null,
) {
  // Left behind by a crash: the instance lock proves that no box uses it.
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    development: false,
    async fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname === '/healthz') return Response.json({ status: 'ok' })
      if (pathname === '/readyz') return readiness(notReady())
      if (pathname === CONFIRM_UPGRADE_PATH) return Response.json({ version: VERSION })
      if (pathname === '/api/v1/box') return Response.json(await report())
      return Response.json(NO_RELAY, { status: 404 })
    },
  })
  chmodSync(path, 0o600)
  return server
}

/** Path at which an upgrade confirms that the new version may stay. Every version calls it, so it can't change. */
const CONFIRM_UPGRADE_PATH = '/api/v1/judgement'

function readiness(reason: string | null): Response {
  if (reason === null) return Response.json({ status: 'ready' })
  return Response.json({ status: 'starting', reason }, { status: 503 })
}

/** Reason why the box isn't ready; null once the head hears it, and the lines from before an upgrade are online. */
function notReady(agent: BoxAgent, upgrade: BoxUpgrade): string | null {
  const { isHeard, refused } = agent.status()
  if (!isHeard) return 'The head does not answer it.'
  if (refused !== null) return PROBLEMS[refused] ?? refused
  return upgrade.notReady((kind, key) => agent.isOnline(kind, key))
}

const NO_RELAY = {
  error: { code: 'not_found', message: 'This machine is a box. Run this on its head.' },
}

async function connect(file: BoxFile, outside: BoxOutside): Promise<NatsLink> {
  const { connectNats } = await import('./boxes/nats-link.ts')
  const { addresses: servers, ca, server_name: serverName, seed, box_id: name } = file
  return connectNats({ servers, ca, serverName, seed, inboxPrefix: inboxOf(name), name }, outside)
}

/** Signs what the box sends. If its file has no key of the head, the first head that signs is trusted for good. */
async function signed(connection: NatsLink, file: BoxFile, path: string, outside: BoxOutside) {
  const own = { seed: file.seed, publicKey: await publicKeyOf(file.seed) }
  let { head_key: head = null } = file
  const trust = {
    peer: () => ({ key: head, mustSign: head !== null }),
    insist: (_: string, key: string) => keepHeadKey(path, file, (head = key)),
  }
  return new SignedLink(connection, own, trust, outside)
}

type SharedDriver = LineDriver & { readonly found: () => readonly Found[] }

/** A driver whose checkups the head and the owner both request: checkups that overlap share one answer. */
function shared(driver: LineDriver, checkMore: LineDriver['checkup']): SharedDriver {
  let found: readonly Found[] = []
  let checking: Promise<readonly Finding[]> | null = null
  const check = async (signal: AbortSignal) =>
    (await Promise.all([driver.checkup(signal), checkMore(signal)])).flat()
  return {
    kind: driver.kind,
    devicesChanged: driver.devicesChanged,
    found: () => found,
    run: (...run) => driver.run(...run),
    discover: async (signal) => (found = await driver.discover(signal)),
    checkup: (signal) => (checking ??= check(signal).finally(() => (checking = null))),
  }
}

type Reported = {
  readonly file: BoxFile
  readonly connection: NatsLink
  readonly link: SignedLink
  readonly agent: BoxAgent
  readonly drivers: readonly SharedDriver[]
}

/** Reason why the head doesn't use the box; null if it does. */
function problemOf({ file, agent, connection, link }: Reported): string | null {
  const { isConnected, problem } = connection.status()
  if (!isConnected) return problem ?? 'connecting'
  const { isHeard, refused } = agent.status()
  if (isHeard) return refused
  return link.refuses(file.box_id) ? 'unsigned' : 'silent'
}

async function reportOf(reported: Reported): Promise<BoxReport> {
  const { file, connection, agent, drivers } = reported
  const limit = AbortSignal.timeout(REPORT_MS)
  const found = await Promise.all(drivers.map((driver) => driver.checkup(limit).catch(() => [])))
  const { since, sessions } = agent.status()
  const { isConnected, server, since: connectedSince } = connection.status()
  const problem = problemOf(reported)
  const own = problem === null ? [] : [unreached(file, problem)]
  return {
    id: file.box_id,
    version: VERSION,
    head: {
      name: file.head_name,
      is_reached: problem === null,
      address: server,
      since: isConnected ? isoTime(timestamp(since)) : isoTimeOrNull(connectedSince),
      problem,
      ca_fingerprint: file.ca === null ? null : new X509Certificate(file.ca).fingerprint256,
    },
    lines_running: sessions.length,
    devices: drivers.flatMap(({ kind, found: list }) =>
      list().map(({ number }) => ({ kind, number })),
    ),
    findings: [...own, ...found.flat()],
  }
}

/** Sentences for the reasons why the head doesn't use the box. */
const PROBLEMS: Readonly<Record<string, string>> = {
  connecting: 'The connection is being made.',
  unreachable: 'Nothing answers at its addresses.',
  untrusted: 'Another machine answers: its certificate is not that of the head.',
  refused: 'The broker refuses the key of this box: it was removed.',
  silent: 'The broker answers, and the head behind it does not.',
  unsigned: 'Whoever answers in place of the head does not sign with its key.',
  box_removed: 'The head has removed this box.',
  box_twice: 'Another machine runs as this box: a copy of its data directory.',
  box_outdated: 'The head needs a newer version of Hookline here.',
}

const FIXES: Readonly<Record<string, string>> = {
  refused: 'To join again, run on the head: hookline boxes add NAME',
  box_removed: 'To join again, run on the head: hookline boxes add NAME',
  box_twice: 'Stop one of the two. Join the other one as a box of its own.',
  box_outdated: 'Run: hookline upgrade',
  unsigned:
    'If the head has a new key (HOOKLINE_BROKER_SEED) or an old version, give it the one from before. Or join again, after two commands on the head: hookline boxes remove BOX, hookline boxes add NAME.',
}

function unreached({ addresses, head_name }: BoxFile, problem: string): BoxFinding {
  return {
    code: 'head_unreachable',
    severity: 'error',
    title: `The head${head_name === null ? '' : ` ${head_name}`} does not use this box`,
    why: PROBLEMS[problem] ?? problem,
    fix:
      FIXES[problem] ??
      `Check that the head runs, and that its port is open to this machine: ${addresses.join(', ')}. It is tried again and again.`,
  }
}
