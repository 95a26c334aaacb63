import { type Link, LinkError } from '../../src/boxes/link.ts'
import type { Clock } from '../../src/system/clock.ts'

type Answer = (request: string, subject: string) => Promise<string | null>

/** One request or answer on its way. */
export type Passing = {
  readonly direction: 'request' | 'answer'
  readonly subject: string
  readonly text: string
}

/** A network in memory: what is asked arrives at once, unless `loses` says otherwise. */
export class MemoryNetwork {
  readonly #clock: Clock
  readonly #servers = new Map<string, Answer>()
  /** True for a request or answer that is lost. */
  loses: (passing: Passing) => boolean = () => false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The link of one process. */
  link(): Link {
    const own = new Set<string>()
    const open = new Set<(error: Error) => void>()
    let isClosed = false
    return {
      ask: (subject, request, timeoutMs) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        const cancel = this.#clock.after(timeoutMs, () => reject(new LinkError('No answer.')))
        open.add(reject)
        if (isClosed) reject(new LinkError('The link is closed.'))
        else void this.#carry(subject, request, { resolve, reject })
        return promise.finally(() => {
          cancel()
          open.delete(reject)
        })
      },
      serve: (subject, answer) => {
        this.#servers.set(subject, answer)
        own.add(subject)
        return () => {
          if (this.#servers.get(subject) === answer) this.#servers.delete(subject)
        }
      },
      close: async () => {
        isClosed = true
        for (const subject of own) this.#servers.delete(subject)
        for (const reject of open) reject(new LinkError('The link is closed.'))
      },
    }
  }

  async #carry(
    subject: string,
    text: string,
    { resolve, reject }: Pick<PromiseWithResolvers<string>, 'resolve' | 'reject'>,
  ): Promise<void> {
    if (this.loses({ direction: 'request', subject, text })) return
    const server = this.#serverOf(subject)
    if (server === null) {
      reject(new LinkError('Nobody listens.'))
      return
    }
    const answer = await server(text, subject)
    if (answer === null || this.loses({ direction: 'answer', subject, text: answer })) return
    resolve(answer)
  }

  #serverOf(subject: string): Answer | null {
    for (const [pattern, answer] of this.#servers) if (fits(pattern, subject)) return answer
    return null
  }
}

/** True where the subject is the pattern's, of which a part may be `*`. */
export function fits(pattern: string, subject: string): boolean {
  const [parts, wanted] = [subject.split('.'), pattern.split('.')]
  return (
    parts.length === wanted.length &&
    wanted.every((part, place) => part === '*' || part === parts[place])
  )
}
