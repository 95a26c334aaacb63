// What every part of the OpenAPI document keeps to, so that clients made of it compile and go on working
// with later versions. A route that is added keeps to it too, or fails here.

import { describe, expect, test } from 'bun:test'

import { Validator } from '@seriousme/openapi-schema-validator'

import {
  DOCUMENTS,
  at,
  objectAt,
  placesIn,
  readDocument,
  schemasFrom,
  type Node,
  type Place,
} from './openapi-document.ts'

type Rule = {
  readonly sentence: string
  /** The paths in the document at which it is broken. */
  readonly breaches: (document: Node) => readonly string[]
}

/** The paths of those places of a document that are broken. */
function where(
  placesOf: (document: Node) => readonly Place[],
  isBroken: (place: Place) => boolean,
) {
  return (document: Node) =>
    placesOf(document)
      .filter(isBroken)
      .map(({ path }) => path)
}

/** Go makes a function `NewThing` for every schema `Thing`. */
const GO_CONSTRUCTOR = /^New[A-Z]/

const RULES: readonly Rule[] = [
  {
    sentence: 'what a webhook gets is a callback of the operation that makes the webhook',
    breaches: (document) => {
      const create = operationsIn(document).find(
        ({ node }) => node['operationId'] === 'createWebhook',
      )
      const isThere = create !== undefined && 'onEvent' in objectAt(create.node, 'callbacks')
      return [
        ...('webhooks' in document ? ['/webhooks'] : []),
        ...(isThere ? [] : ['createWebhook']),
      ]
    },
  },
  {
    sentence: 'an operation id, a tag and a name of a schema mean one thing each',
    breaches: (document) => {
      const ids = operationsIn(document).map(({ node }) => String(node['operationId']))
      const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
      const tags = operationsIn(document).flatMap(({ node }) => node['tags'] as string[])
      const known = (document['tags'] as { name: string }[]).map(({ name }) => name)
      const names = Object.keys(at(document, '#/components/schemas'))
      const lower = names.map((name) => name.toLowerCase())
      return [
        ...twice,
        ...tags.filter((tag) => !known.includes(tag)),
        ...known.filter((tag) => !tags.includes(tag)),
        ...names.filter((name, index) => lower.indexOf(name.toLowerCase()) !== index),
      ]
    },
  },
  {
    sentence: 'no name of a schema is one that a language makes for another',
    breaches: (document) =>
      Object.keys(at(document, '#/components/schemas')).filter(
        (name) => GO_CONSTRUCTOR.test(name) || name === 'Error' || !/^[A-Z][A-Za-z]+$/.test(name),
      ),
  },
  {
    sentence: 'objects in answers are open, and say so',
    breaches: where(
      answerSchemas,
      ({ node }) => node['type'] === 'object' && node['additionalProperties'] !== true,
    ),
  },
  {
    sentence: 'objects in requests are closed',
    breaches: where(
      requestSchemas,
      ({ node }) => node['type'] === 'object' && node['additionalProperties'] !== false,
    ),
  },
  {
    sentence: 'an answer never holds a closed list of words without any other string beside it',
    breaches: (document) => {
      const open = new Set(answerSchemas(document).flatMap(branchesBesideString))
      return answerSchemas(document)
        .filter(({ node, path }) => {
          const { $ref } = node
          const isWords = typeof $ref === 'string' && 'enum' in at(document, $ref)
          return (isWords && !open.has(path)) || ('enum' in node && !isNamed(path))
        })
        .map(({ path }) => path)
    },
  },
  {
    sentence: 'a list of words has a name',
    breaches: where(allSchemas, ({ node, path }) => 'enum' in node && !isNamed(path)),
  },
  {
    sentence: 'a word of a list has a constant that no word of another list has',
    breaches: (document) => {
      const lists = allSchemas(document).filter(({ node }) => 'enum' in node)
      const constants = lists.flatMap(({ node }) => node['x-enum-varnames'] as string[])
      const count = lists.flatMap(({ node }) => node['enum']).length
      const twice = constants.filter((name, index) => constants.indexOf(name) !== index)
      return [...twice, ...(constants.length === count ? [] : ['a word without a constant'])]
    },
  },
  {
    sentence: 'an object has a name',
    breaches: where(
      allSchemas,
      ({ node, path }) => 'properties' in node && !isNamed(path) && hasFields(node),
    ),
  },
  {
    sentence: 'what may be null says so by its type, and is described outside of its branches',
    breaches: where(allSchemas, ({ node }) => isWrappedNull(node)),
  },
  {
    sentence: 'schemas have examples, in their list',
    breaches: where(
      allSchemas,
      ({ node }) => 'example' in node || ('examples' in node && !Array.isArray(node['examples'])),
    ),
  },
  {
    sentence: 'no text is empty',
    breaches: where(placesIn, ({ node }) =>
      ['description', 'summary', 'title'].some((key) => isBlank(node[key])),
    ),
  },
  {
    sentence: 'every operation has a summary and a description',
    breaches: where(operationsIn, ({ node }) => !('summary' in node && 'description' in node)),
  },
  {
    sentence: 'error answers stand among the components, once each',
    breaches: (document) => {
      const kept = Object.values(at(document, '#/components/responses')).map((one) =>
        JSON.stringify(one),
      )
      const inline = operationsIn(document).flatMap(({ path, node }) =>
        Object.entries(objectAt(node, 'responses'))
          .filter(([status, response]) => Number(status) >= 400 && !('$ref' in (response as Node)))
          .map(([status]) => `${path} ${status}`),
      )
      return [...inline, ...kept.filter((one, index) => kept.indexOf(one) !== index)]
    },
  },
  {
    sentence: 'the codes of all errors are listed and described',
    breaches: (document) => {
      const { enum: codes = [], description } = at(document, '#/components/schemas/ErrorCode')
      const told = Object.values(at(document, '#/components/responses')).flatMap((response) =>
        Object.keys(at(response as Node, '#/content/application~1json/examples')),
      )
      return told.filter((code) => {
        return !(codes as string[]).includes(code) || !String(description).includes(`\`${code}\``)
      })
    },
  },
  {
    sentence: 'only operations with a body have errors about the body',
    breaches: where(operationsIn, ({ node }) => {
      const statuses = Object.keys(objectAt(node, 'responses'))
      const told = statuses.filter((status) => ['413', '415'].includes(status))
      return told.length !== ('requestBody' in node ? 2 : 0)
    }),
  },
  {
    sentence: 'a url says that it is one',
    breaches: where(
      allSchemas,
      ({ path, node }) => /_?url$/.test(path) && !/^uri\b/.test(String(node['format'])),
    ),
  },
  {
    sentence: 'nothing is left of what only the relay reads, and every name that is kept is used',
    breaches: (document) => {
      const used = new Set(placesIn(document).map(({ node }) => node['$ref']))
      const kept = ['schemas', 'responses'].flatMap((kind) =>
        Object.keys(at(document, `#/components/${kind}`)).map(
          (name) => `#/components/${kind}/${name}`,
        ),
      )
      const inner = placesIn(document).filter(
        ({ node }) => 'inDocument' in node || '~standard' in node,
      )
      return [...kept.filter((ref) => !used.has(ref)), ...inner.map(({ path }) => path)]
    },
  },
]

describe.each(DOCUMENTS)('the document at %s', (path) => {
  test.each(RULES.map((rule) => [rule.sentence, rule] as const))('%s', async (_, rule) => {
    expect(rule.breaches(await readDocument(path))).toEqual([])
  })

  test('is valid 3.1, and says whose it is', async () => {
    const document = await readDocument(path)

    const verdict = await new Validator().validate(structuredClone(document))

    expect(verdict.errors ?? []).toEqual([])
    expect(verdict.valid).toBe(true)
    expect(document['openapi']).toBe('3.1.0')
    expect(objectAt(document, 'info')).toMatchObject({
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
    })
  })
})

function operationsIn(document: Node): readonly Place[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, operations]) =>
    Object.entries(operations as Node).map(([method, node]) => {
      return { path: `${method.toUpperCase()} ${path}`, node: node as Node }
    }),
  )
}

/** What a caller reads: answers, and what comes to a webhook. */
function answerSchemas(document: Node): readonly Place[] {
  const read = operationsIn(document).map(({ node }) => [node['responses'], node['callbacks']])
  return schemasFrom(document, read)
}

function requestSchemas(document: Node): readonly Place[] {
  const sent = operationsIn(document).map(({ node }) => [node['parameters'], node['requestBody']])
  return schemasFrom(document, sent)
}

function allSchemas(document: Node): readonly Place[] {
  return schemasFrom(document, document)
}

function isNamed(path: string): boolean {
  return /^#\/components\/schemas\/[^/]+$/.test(path)
}

function branchesOf(node: Node): readonly Node[] {
  return Array.isArray(node['anyOf']) ? (node['anyOf'] as Node[]) : []
}

/** The places of branches that have any string for an alternative. */
function branchesBesideString({ node, path }: Place): readonly string[] {
  const branches = branchesOf(node)
  const isOpen = branches.some((branch) => Bun.deepEquals(branch, { type: 'string' }))
  return isOpen ? branches.map((_, index) => `${path}/anyOf/${index}`) : []
}

function isWrappedNull(node: Node): boolean {
  const branches = branchesOf(node)
  if (!branches.some((branch) => branch['type'] === 'null')) return false
  const isBare = (branch: Node) => '$ref' in branch || Object.keys(branch).join() === 'type'
  return branches.length === 2
    ? !branches.every((one) => '$ref' in one || one['type'] === 'null')
    : !branches.every(isBare)
}

function hasFields(node: Node): boolean {
  return Object.keys(objectAt(node, 'properties')).length > 0
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}
