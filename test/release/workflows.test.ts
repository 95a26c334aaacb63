// The workflows: what they run is in the checkout, and what they use of others is pinned and may do little.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

import { ROOT } from '../support/source-files.ts'

type Step = {
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}
type Job = {
  readonly permissions?: Readonly<Record<string, string>>
  readonly uses?: string
  readonly steps?: readonly Step[]
}
type Workflow = {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = '.github/workflows'
const files = readdirSync(`${ROOT}/${FOLDER}`).sort()
const workflows = files.map((name) => {
  return Bun.YAML.parse(readFileSync(`${ROOT}/${FOLDER}/${name}`, 'utf8')) as Workflow // Ours.
})
const jobs = workflows.flatMap((workflow) => Object.entries(workflow.jobs))
const steps = jobs.flatMap(([, job]) => job.steps ?? [])

test('tests run for each change, and a release only behind them', () => {
  expect(files).toEqual(['release.yml', 'test.yml'])
  expect(jobs.map(([name]) => name)).toEqual(['test', 'release', 'linux', 'mac'])
  expect(workflows[0]?.jobs['release']).toMatchObject({ needs: 'test' })
})

test('a release points at the repository whose workflow makes it', () => {
  const make = steps.find(({ run }) => run?.includes('scripts/release.ts --key'))

  expect(make?.run).toContain('--repository "$REPOSITORY"')
  expect(make?.env?.['REPOSITORY']).toBe('${{ github.server_url }}/${{ github.repository }}')
})

test('only the job that publishes may write', () => {
  expect(workflows.map(({ permissions }) => permissions)).toEqual([
    { contents: 'read' },
    { contents: 'read' },
  ])
  const raised = jobs.filter(([, { permissions }]) => permissions !== undefined)
  expect(raised.map(([name, { permissions }]) => [name, permissions])).toEqual([
    ['release', { contents: 'write' }],
  ])
})

test('actions of others are pinned to a commit, and every script that is run is there', () => {
  const uses = [...jobs.map(([, job]) => job), ...steps].flatMap(({ uses }) => uses ?? [])
  const foreign = uses.filter((name) => !name.startsWith('./'))
  const scripts = steps.flatMap(({ run = '' }) => run.match(/\b(scripts|test)\/[\w./-]+/g) ?? [])

  expect(foreign.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([])
  expect(scripts.length).toBeGreaterThan(3)
  expect(scripts.filter((path) => !existsSync(`${ROOT}/${path}`))).toEqual([])
})
