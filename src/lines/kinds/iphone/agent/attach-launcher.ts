import { whenAborted } from '../../../../system/clock.ts'
import type { Launched, Launcher, LaunchTrouble } from './launcher.ts'

const LET_GO: LaunchTrouble = { code: 'launch_failed', why: 'It is not used any more.' }

/** Somebody else starts the agent and keeps it alive: nothing is to be done. */
export function attachLauncher(): Launcher {
  return {
    name: 'attach',
    prepare: () => Promise.resolve(null),
    launch: () => Promise.resolve(attached()),
    run: async (signal) => void (await whenAborted(signal)),
  }
}

function attached(): Launched {
  const { promise, resolve } = Promise.withResolvers<LaunchTrouble>()
  return {
    ended: promise,
    stop() {
      resolve(LET_GO)
      return Promise.resolve()
    },
  }
}
