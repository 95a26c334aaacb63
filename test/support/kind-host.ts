import type { KindHost } from '../../src/lines/line-kind.ts'
import type { Clock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'

/** A Mac on which no program can be started, except as `given` says. */
export function testHost(given: Partial<KindHost> & { readonly clock: Clock }): KindHost {
  return {
    relayClock: given.clock,
    random: systemRandom,
    log: silentLog,
    run: async () => ({ end: 'not_started', why: 'ENOENT' }),
    start: notThere,
    startRead: notThere,
    self: { pid: 4711, uid: 501 },
    restart: null,
    platform: 'darwin',
    homeFolder: '/',
    pathOf: (name) => name,
    callers: () => [],
    ...given,
  }
}

function notThere(): never {
  throw new Error('ENOENT')
}
