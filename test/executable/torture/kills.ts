// Kills the executable again and again, under load and before it listens, and asks the ledgers what became
// of each message: what clients were answered, what the simulated network carried, what receivers got.

import { systemRandom } from '../../../src/system/random.ts'
import { eventually } from '../../support/eventually.ts'
import { builtExecutable, cleanEnvironment } from '../../support/executable.ts'
import { Receiver } from '../../support/receiver.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
} from '../../support/relay-process.ts'
import { disagreements, isDelivered, readLedgers, receivedIds, unexplained } from '../ledgers.ts'
import { CompatClients, compatFaults, FOLLOWED } from './compat.ts'
import { ageFiles, fileCounts, fileFaults, pendingFiles, Uploads } from './files.ts'
import { FormatReceivers } from './formats.ts'
import { ImsgClient, imsgFaults } from './imsg.ts'
import { Clients, comeToRest, ENVIRONMENT, prepare } from './load.ts'
import { OptOuts, optOutFaults } from './opt-outs.ts'
import { figureFaults, unreadFaults } from './reader.ts'
import { TwilioReceiver, twilioFaults } from './twilio.ts'
import { Waiting, waitingFaults } from './waiting.ts'

const LIFE_MS_MIN = 150
const LIFE_MS_MAX = 700
/** A start to its first answer takes some 150 ms. */
const START_MS_MAX = 150
/** How many answers of the receiver that is not well are refusals. */
const REFUSED_SHARE = 0.1
/** For what clients have yet to meet after the last kill. */
const MET_MS_MAX = 120_000
/** The first sweep of files is a minute after a start. */
const SWEPT_AFTER_MS = 75_000
/** Every so many kills, one comes before the relay listens. */
const EARLY_EVERY = 3
/** Steps of this length through a range come near every part of it soon. */
const GOLDEN = (Math.sqrt(5) - 1) / 2

export type KillFigures = {
  readonly kills: number
  readonly early: number
  readonly told: number
  readonly repeats: number
  readonly carried: number
  readonly posts: number
  /** Files of the relay, and parts that the network carried. */
  readonly files: number
  readonly parts: number
  /** Sends that had to wait for their time, an approver, or the end of quiet hours. */
  readonly waited: number
  /** Sends by the compatible APIs. */
  readonly compatible: number
  readonly exitCode: number
  /** Every list is empty when all is well. */
  readonly faults: Readonly<Record<string, readonly unknown[]>>
}

/** `load` is a load of texts, or of texts and files. */
export async function runKills(
  kills: number,
  load: 'texts' | 'files' = 'texts',
): Promise<KillFigures> {
  using dir = temporaryDataDir()
  using well = new Receiver()
  using unwell = new Receiver(refuseSome)
  using formats = new FormatReceivers()
  const key = await createKey(dir.path)
  const start = (port: number) =>
    RelayProcess.start({ dataDir: dir.path, port, environment: ENVIRONMENT })
  let relay = await start(0)
  let early = 0
  const api = new ApiClient(() => relay.url, key)
  const uploads = load === 'files' ? new Uploads(api, key.id) : undefined
  const lines = await prepare(api, [well, unwell])
  const clients = new Clients(api, key, lines, { uploads })
  const optOuts = new OptOuts(api, key.id, lines[0]?.id ?? '')
  const waiting = await Waiting.open(api, key.id, () => relay.url)
  await formats.register(api, relay.url)
  using twilio = await TwilioReceiver.open(api, lines)
  const compat = await CompatClients.open(api, {
    name: key.id,
    url: () => relay.url,
    callbacks: {
      sendblue: (text) => formats.callback(text),
      twilio: (text) => `${twilio.url}/status?of=${encodeURIComponent(text)}`,
    },
    twilio: twilio.key,
  })
  const imsg = await ImsgClient.open(api)
  const sending = [clients, waiting, optOuts, compat, imsg, twilio]
  const running = Promise.all(sending.map((each) => each.run()))
  const { port } = relay
  const hasMetAll = () =>
    optOuts.refusals > 0 &&
    [clients, waiting, compat, imsg, twilio].every((each) => each.hasMetAll()) &&
    clients.told.length > kills
  const places = placesInTurn()
  for (let done = 0; done < kills; done += 1) {
    if (done % EARLY_EVERY === EARLY_EVERY - 1) {
      await killStarting(dir.path, port, START_MS_MAX * places.early())
      early += 1
      continue
    }
    if (done > 0) relay = await start(port)
    await Bun.sleep(LIFE_MS_MIN + (LIFE_MS_MAX - LIFE_MS_MIN) * places.late())
    await relay.end('SIGKILL')
  }
  relay = await start(port)
  // A machine with other things to do may not have come to all of it.
  await eventually('clients met everything', () => (hasMetAll() ? true : null), MET_MS_MAX)
  for (const each of sending) each.stop()
  await running
  await comeToRest(api)
  await eventually('callbacks arrived', () => (isDelivered(dir.path) ? true : null), MET_MS_MAX)
  await eventually(
    'imsg heard everything',
    () => (imsg.hasHeard(receivedIds(dir.path)) ? true : null),
    MET_MS_MAX,
  ).catch(() => {})
  await imsg.end()
  if (load === 'files') {
    await filesArrived(dir.path)
    await relay.end('SIGTERM')
    ageFiles(dir.path)
    relay = await start(port)
    await Bun.sleep(SWEPT_AFTER_MS)
    await comeToRest(api)
  }
  await twilio.comeToRest()
  await compat.readStates(api)
  const unfoundNames = await clients.unfoundNames()
  const { data: days } = await api.ask<{ data: Parameters<typeof figureFaults>[1] }>(
    'GET',
    '/api/v1/stats?days=2',
  )
  const exitCode = await relay.end('SIGTERM')
  const ledgers = readLedgers(dir.path)
  return {
    kills,
    early,
    told: clients.told.length,
    repeats: clients.repeats,
    carried: ledgers.carried.size,
    waited: waiting.sends.length,
    compatible: compat.sends.length + imsg.sends.length,
    posts: well.received.length + unwell.received.length,
    exitCode,
    ...fileCounts(dir.path),
    faults: {
      contradictions: clients.contradictions,
      stepsBack: clients.stepsBack,
      unfoundNames: clients.named.length === 0 ? ['no contact was added'] : unfoundNames,
      unread: unreadFaults(dir.path, clients.reader.marks),
      figures: figureFaults(dir.path, days),
      ...disagreements(
        ledgers,
        [...clients.told, ...compat.told(), ...imsg.told()],
        [well.received, unwell.received],
      ),
      ...unexplained(ledgers),
      ...waitingFaults(dir.path, waiting.sends),
      ...optOutFaults(dir.path, optOuts),
      ...compatFaults(ledgers, compat),
      ...formats.faults(ledgers, FOLLOWED),
      ...imsgFaults(ledgers, imsg),
      ...twilioFaults(ledgers, twilio, compat.withCallback()),
      ...(load === 'files' ? fileFaults(dir.path, [...well.received, ...unwell.received]) : {}),
    },
  }
}

async function filesArrived(dataDir: string): Promise<void> {
  await eventually(
    'every file has arrived or failed',
    () => (pendingFiles(dataDir) === 0 ? true : null),
    120_000,
  )
}

/** Starts a relay and kills it after a moment: before it can have said that it listens, or soon after. */
async function killStarting(dataDir: string, port: number, momentMs: number): Promise<void> {
  const serve = ['serve', '--data-dir', dataDir, '--port', String(port)]
  const child = Bun.spawn([builtExecutable(), ...serve], {
    cwd: dataDir,
    env: cleanEnvironment(ENVIRONMENT),
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await Bun.sleep(momentMs)
  child.kill('SIGKILL')
  await child.exited
}

/** Places in a life, and in a start, from 0 to 1: few of them are spread as evenly as many are. */
function placesInTurn() {
  const places = (place = systemRandom.chance()) => {
    return () => (place = (place + GOLDEN) % 1)
  }
  return { early: places(), late: places() }
}

function refuseSome(): Response {
  return new Response(null, { status: systemRandom.chance() < REFUSED_SHARE ? 500 : 200 })
}
