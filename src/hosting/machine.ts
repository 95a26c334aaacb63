import { homedir, platform, userInfo } from 'node:os'

import { systemClock, type Clock } from '../system/clock.ts'
import {
  processRunner,
  startDetached,
  type RunProcess,
  type StartDetached,
} from '../system/process.ts'
import { systemRandom, type Random } from '../system/random.ts'

/** The machine of a service, and the user who runs the service. */
export type Machine = {
  readonly run: RunProcess
  readonly startDetached: StartDetached
  readonly clock: Clock
  readonly random: Random
  /** The result of `os.platform()`. */
  readonly platform: string
  readonly home: string
  readonly uid: number
  readonly userName: string
  readonly environment: Environment
}

type Environment = Readonly<Record<string, string | undefined>>

export function thisMachine(environment: Environment): Machine {
  const { uid, username: userName } = userInfo()
  return {
    run: processRunner(systemClock),
    startDetached,
    clock: systemClock,
    random: systemRandom,
    platform: platform(),
    home: environment['HOME'] ?? homedir(),
    uid,
    userName,
    environment,
  }
}
