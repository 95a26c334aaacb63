// Stands in for the tools of the system: notes what they are called with, and answers as a test says.

import type { Machine } from '../../src/hosting/machine.ts'
import type { ProcessEnd, RunProcess, StartDetached } from '../../src/system/process.ts'
import { TestClock } from '../support/test-clock.ts'

export type Called = readonly string[]

type Told = {
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
}

/** What a tool answers to a call, path first; undefined succeeds without a word. */
export type Answer = (called: Called) => Told | ProcessEnd | undefined

export class RecordingTools {
  readonly calls: Called[] = []
  readonly run: RunProcess
  readonly startDetached: StartDetached = ({ path, args, output }) => {
    this.calls.push(['detached', path, ...args, `> ${output}`])
  }
  answer: Answer

  constructor(answer: Answer = () => undefined) {
    this.answer = answer
    this.run = async ({ path, args, input }, signal) => {
      if (signal.aborted) return { end: 'not_started', why: 'aborted' }
      const called = [path, ...args, ...(input === undefined ? [] : [`< ${input.trimEnd()}`])]
      this.calls.push(called)
      const told = this.answer(called) ?? {}
      if ('end' in told) return told
      return { end: 'exited', exitCode: 0, stdout: '', stderr: '', ...told }
    }
  }

  /** A machine on which these tools are all there is. */
  machine(more: Partial<Machine> = {}): Machine {
    return {
      run: this.run,
      startDetached: this.startDetached,
      clock: new TestClock(),
      random: { bytes: (length) => new Uint8Array(length), chance: () => 0 },
      platform: 'linux',
      home: '/nowhere',
      uid: 1000,
      userName: 'ann',
      environment: {},
      ...more,
    }
  }

  /** What was called since the last time. */
  taken(): readonly Called[] {
    return this.calls.splice(0)
  }
}

export const NEVER = new AbortController().signal
