// The recipes of the manual as a reader copies them, and as much of n8n as its nodes need.

import { createContext, runInContext } from 'node:vm'

import { findGuide } from '../../src/guides/guides.ts'
import type { Json } from './test-relay.ts'

/** An n8n workflow, as far as tests read it. */
export type Workflow = {
  readonly id: string
  readonly nodes: readonly { readonly name: string; readonly parameters: Json }[]
  readonly connections: Readonly<Record<string, Json>>
}

/** The fenced blocks of a guide in one language, in their order. */
export function blocks(name: string, language: string): readonly string[] {
  return blocksIn(findGuide(name)?.text ?? '', language)
}

export function blocksIn(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block ?? '',
  )
}

export function workflow(): Workflow {
  return JSON.parse(blocks('n8n', 'json')[0] ?? '')
}

/** The parameters of a node of the n8n workflow. */
export function node(name: string): Json {
  return workflow().nodes.find((one) => one.name === name)?.parameters
}

/** Runs the code of a node in a context that has as little as n8n's: `Buffer`, and no `crypto`. */
export function runCode(code: string, { helpers, ...variables }: Json): Json {
  const context = createContext({ Buffer, self: { helpers }, ...variables })
  return runInContext(`(async function () {${code}\n}).call(self)`, context)
}

/** The value of an n8n expression, `={{ … }}`. */
export function evaluate(expression: string, variables: Json): string {
  const inner = /^=\{\{(.*)\}\}$/.exec(expression)?.[1] ?? ''
  return runInContext(inner, createContext(variables))
}
