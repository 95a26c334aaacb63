import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/**
 * A loop that runs as long as the relay. `run` must return soon after `signal` aborts, with nothing of it still
 * running. If it throws or returns earlier, it is started again after a growing delay.
 */
export type Service = {
  readonly name: string
  run(signal: AbortSignal): Promise<void>
}

const DELAY_MS_MIN = 250
const DELAY_MS_MAX = 30_000
/** After this time a service counts as healthy, and its delay is reset. */
const HEALTHY_MS = 60_000

/** Runs every service until `stop` is called, which resolves when the last of them has ended. */
export function runServices(
  services: readonly Service[],
  tools: { readonly clock: Clock; readonly log: Log },
): { stop(): Promise<void> } {
  const end = new AbortController()
  const running = services.map((service) => supervise(service, tools, end.signal))
  return {
    async stop() {
      end.abort()
      await Promise.all(running)
    },
  }
}

/** Runs `service` until `signal` aborts; resolves when it has ended. */
async function supervise(
  service: Service,
  tools: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = tools
  let delayMs = DELAY_MS_MIN
  while (!signal.aborted) {
    const startedAt = clock.monotonic()
    try {
      await service.run(signal)
      if (signal.aborted) return
      log.warn('service ended early', { service: service.name })
    } catch (error) {
      if (signal.aborted) return
      const level = delayMs > 5_000 ? 'error' : 'warn'
      log[level]('service failed', { service: service.name, error, again_in_ms: delayMs })
    }
    if (clock.monotonic() - startedAt > HEALTHY_MS) delayMs = DELAY_MS_MIN
    await clock.sleep(delayMs, signal)
    delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)
  }
}
