import { AgentError } from '../../../src/lines/kinds/iphone/agent/wda-http.ts'
import type { Meddling } from './wda-commands.ts'
import type { CommandName } from './wda-routes.ts'

/** The code of the error with which it ends; null where it ends well. */
export async function codeOf(promise: Promise<unknown>): Promise<string | null> {
  try {
    await promise
    return null
  } catch (error) {
    return error instanceof AgentError ? error.code : 'no AgentError'
  }
}

/** Meddles with the first command of a name. */
export function firstOf(name: CommandName, meddling: Meddling) {
  let isOver = false
  return (other: CommandName): Meddling | null => {
    if (isOver || other !== name) return null
    isOver = true
    return meddling
  }
}
