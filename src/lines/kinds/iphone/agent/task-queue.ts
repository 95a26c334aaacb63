import { AgentError } from './wda-http.ts'

/** The order in which tasks that wait are run. */
const ORDER = ['send', 'receipt', 'poll'] as const
export type Urgency = (typeof ORDER)[number]

type WaitingTask = { readonly urgency: Urgency; readonly start: () => void }

const WAITING_MAX = 100

/** Runs one task at a time; of those that wait the most urgent is next, and of equals the first. */
export class TaskQueue {
  #waiting: WaitingTask[] = []
  #isBusy = false

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Rejects with `aborted` where the signal fires before the task has begun. */
  async run<T>(urgency: Urgency, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.#awaitStart(urgency, signal)
    try {
      return await task()
    } finally {
      this.#startNext()
    }
  }

  async #awaitStart(urgency: Urgency, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new AgentError('aborted', 'Aborted before its turn.')
    if (!this.#isBusy) {
      this.#isBusy = true
      return
    }
    if (this.#waiting.length >= WAITING_MAX) throw new AgentError('other', 'Too many wait.')
    const started = Promise.withResolvers<void>()
    const task: WaitingTask = { urgency, start: started.resolve }
    this.#waiting.push(task)
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== task)
      started.reject(new AgentError('aborted', 'Aborted before its turn.'))
    }
    signal.addEventListener('abort', leave)
    await started.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  #startNext(): void {
    const [next] = this.#waiting.toSorted((a, b) => rank(a) - rank(b))
    this.#waiting = this.#waiting.filter((other) => other !== next)
    // Busy at once: a task may come before the next one wakes.
    this.#isBusy = next !== undefined
    next?.start()
  }
}

function rank({ urgency }: WaitingTask): number {
  return ORDER.indexOf(urgency)
}
