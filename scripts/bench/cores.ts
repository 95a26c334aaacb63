// What serves gets one core and what loads it the other, so that neither takes the other's time. Where
// there is no `taskset` (macOS), the system decides.

const SERVER_CORE = '0'
const LOAD_CORE = '1'
const hasTaskset = Bun.which('taskset') !== null

/** In front of the command of whatever is measured. */
export const UNDER: readonly string[] = hasTaskset ? ['taskset', '-c', SERVER_CORE] : []

/** The same for what is measured from the other side, as a box is from its head. */
export const BESIDE_LOAD: readonly string[] = hasTaskset ? ['taskset', '-c', LOAD_CORE] : []

/** Puts this process on the core for the load. */
export function moveToLoadCore(): void {
  moveTo(LOAD_CORE)
}

/** Puts this process on both, for a browser, whose parts work side by side. */
export function moveToBothCores(): void {
  moveTo(`${SERVER_CORE},${LOAD_CORE}`)
}

function moveTo(cores: string): void {
  if (hasTaskset) Bun.spawnSync(['taskset', '-acp', cores, String(process.pid)])
}
