import { expect, test } from 'bun:test'

import type { HealthFinding as ApiFinding } from '../../src/api/health.ts'
import { lineScope } from '../../src/domain/finding.ts'
import type { BoxId } from '../../src/domain/ids.ts'
import { groupedByBox } from '../../src/health/box-findings.ts'
import { findingTrees } from '../../src/health/causes.ts'

const [STUDIO, ATTIC] = ['box_studio', 'box_attic'] as unknown as readonly [BoxId, BoxId] // Any ids do.
const nameOf = (box: BoxId) => box.slice(4)

const ACCESS = {
  code: 'full_disk_access',
  severity: 'error',
  title: 'Messages cannot be read',
  why: 'macOS refuses.',
  fix: 'Allow it.',
  depends_on: null,
} as const

test('one cause on two boxes is one finding that names them', () => {
  const found = [
    { ...ACCESS, scope: lineScope('line_a', STUDIO) },
    { ...ACCESS, scope: lineScope('line_b', ATTIC) },
  ]

  expect(groupedByBox(found, nameOf)).toEqual([
    {
      ...ACCESS,
      why: 'On 2 boxes: studio, attic. macOS refuses.',
      scope: { about: { kind: 'box', id: null }, lineId: null, boxes: [STUDIO, ATTIC] },
    },
  ])
})

test('two boxes with one symptom and other remedies are two findings, each with its line', () => {
  const found = [
    { ...ACCESS, scope: lineScope('line_a', STUDIO) },
    { ...ACCESS, scope: lineScope('line_b', ATTIC), fix: 'Sign in.' },
  ]

  const lines = groupedByBox(found, nameOf).map(({ scope }) => scope.lineId)

  expect(lines).toEqual(['line_a', 'line_b'])
})

test('a cause on one box keeps its line, and one of this machine stays as it is', () => {
  const here = { ...ACCESS, scope: { about: { kind: 'relay', id: null }, lineId: null } } as const
  const there = { ...ACCESS, scope: lineScope('line_a', STUDIO) }

  const [first, second] = groupedByBox([here, there], nameOf)

  expect(first).toEqual(here)
  expect(second).toMatchObject({
    scope: lineScope('line_a', STUDIO),
    why: 'On studio. macOS refuses.',
  })
})

test('the finding of a line stands below that of its own box, and of no other machine', () => {
  const finding = (more: Partial<ApiFinding>): ApiFinding => ({
    ...ACCESS,
    line_id: null,
    about: { kind: 'driver', id: 'mac' },
    since: '2026-11-21T10:00:00.000Z',
    ...more,
  })
  const here = finding({})
  const boxes = finding({ boxes: [STUDIO, ATTIC], about: { kind: 'box', id: null } })
  const offline = (line_id: string, more: Partial<ApiFinding>) =>
    finding({ code: 'line_offline', depends_on: 'full_disk_access', line_id, ...more })
  const [own, studio, attic, third] = [
    offline('line_here', {}),
    offline('line_studio', { boxes: [STUDIO] }),
    offline('line_attic', { boxes: [ATTIC] }),
    offline('line_third', { boxes: ['box_third'] }),
  ]

  const trees = findingTrees([here, boxes, own, studio, attic, third])

  const leaf = (one: ApiFinding) => ({ finding: one, consequences: [] })
  expect(trees).toEqual([
    { finding: here, consequences: [leaf(own)] },
    { finding: boxes, consequences: [leaf(studio), leaf(attic)] },
    leaf(third),
  ])
})
