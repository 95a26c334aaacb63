import { listenInSafeMode, listenWithoutSocket } from '../app.ts'
import type { NotYetError } from '../storage/data.ts'
import type { UnusableDatabaseError } from '../storage/migrations.ts'
import { addressRanges } from '../system/address-range.ts'
import { systemClock, whenAborted } from '../system/clock.ts'
import { openDataDirectory } from '../system/data-directory.ts'
import { takeInstanceLock } from '../system/instance-lock.ts'
import { systemRandom } from '../system/random.ts'
import { EXIT, type ExitCode } from './command.ts'
import type { Start } from './judged-start.ts'

const NEXT_STEP =
  'Install the version that fits by "hookline upgrade --from FILE", or go back to a back-up by ' +
  '"hookline down", "hookline restore FILE" and "hookline up"; "hookline backups" lists them.'

/** Stays up and says what is the matter: to be started again and again would help nobody. */
export async function serveSafeMode(start: Start, error: UnusableDatabaseError): Promise<ExitCode> {
  const { call, config, log, signal } = start
  const { host, port } = config
  const { lock: lockPath, controlSocket: path } = openDataDirectory(config.dataDir)
  const address = port === 0 ? null : `${host}:${port}`
  const lock = takeInstanceLock(lockPath, { since: systemClock.now(), task: 'relay', address })
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  const reason = `${error.message}${cause}`
  log.error('safe mode: the database cannot be used', { error })
  const mode = { reason, nextStep: NEXT_STEP, code: 'starting' } as const
  const listening = { ...schemeOf(config), hostname: host, port, path, random: systemRandom, log }
  const listener = listenInSafeMode(mode, listening)
  call.out.data({ url: listener.url, safe_mode: reason }, [
    `hookline in safe mode on ${listener.url}`,
  ])
  await whenAborted(signal)
  await listener.stop(0)
  lock.release()
  return EXIT.ok
}

const LOOK_AGAIN_MS = 2_000

/**
 * Answers on the port that the relay cannot start, until it can or has to stop. The data directory may
 * be missing or full, so neither its lock nor its socket is taken.
 */
export async function waitInSafeMode(start: Start, error: NotYetError): Promise<void> {
  const { config, log, signal } = start
  log.error('safe mode: the relay cannot start yet', { error })
  const mode = { reason: error.message, nextStep: '', code: error.code }
  const { host: hostname, port } = config
  const listening = { ...schemeOf(config), hostname, port, random: systemRandom, log }
  const listener = listenWithoutSocket(mode, listening)
  while (!signal.aborted && !error.isOver()) await systemClock.sleep(LOOK_AGAIN_MS, signal)
  await listener.stop(0)
  if (!signal.aborted) log.info('what kept the relay from starting is over')
}

/** What tells a request of this machine from those that a proxy passes on. */
function schemeOf({ publicUrl, trustedProxies }: Start['config']) {
  return { hosts: { publicUrl }, isTrustedProxy: addressRanges(trustedProxies) }
}
