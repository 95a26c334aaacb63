// Findings about boxes, and findings that boxes report.

import type { Finding } from '../domain/finding.ts'
import type { BoxId } from '../domain/ids.ts'
import { OFFLINE_REASONS, type Line, type LineState, lineName } from '../domain/line.ts'
import { countWords } from '../domain/number-words.ts'
import type { HealthFinding } from './catalogue.ts'

/** A finding of a driver, with the box that it was found on. */
type Found = Omit<HealthFinding, 'boxes'> & Pick<Finding, 'box'>

type NameOf = (box: BoxId) => string

/** Findings with the names of their boxes; one cause on several boxes is one finding. */
export function groupedByBox(found: readonly Found[], nameOf: NameOf): readonly HealthFinding[] {
  const here = found.filter(({ box }) => box === undefined)
  const there = found.filter(({ box }) => box !== undefined)
  const groups = Map.groupBy(there, ({ code, title }) => `${code}\0${title}`)
  return [...here, ...[...groups.values()].flatMap((group) => oneOf(group, nameOf))]
}

function oneOf(group: readonly Found[], nameOf: NameOf): readonly HealthFinding[] {
  const boxes = [...new Set(group.flatMap(({ box }) => box ?? []))]
  const [first] = group
  const names = boxes.map(nameOf).join(', ')
  if (first === undefined || boxes.length === 1) {
    return group.map(({ box: _, ...one }) => ({ ...one, boxes, why: `On ${names}. ${one.why}` }))
  }
  const { box: _, ...rest } = first
  const why = `On ${countWords(boxes.length, 'box')}: ${names}. ${first.why}`
  return [{ ...rest, boxes, why, lineId: null, about: { kind: 'box', id: null } }]
}

type Numbered = { readonly line: Line; readonly state: LineState }

/** Lines whose number an older line of another machine has. */
export function numberTwiceFindings(
  lines: readonly Numbered[],
  nameOf: NameOf,
): readonly HealthFinding[] {
  const { code } = OFFLINE_REASONS.number_twice
  return lines
    .filter(({ state }) => state.status === 'offline' && state.reason.code === code)
    .map(({ line }) => {
      const twins = lines.filter((one) => one.line.number === line.number)
      const places = twins.map(({ line: { box } }) => (box === null ? 'this machine' : nameOf(box)))
      return {
        code,
        severity: 'warning',
        title: `The number of ${lineName(line)} is on two machines`,
        why: `It is signed in on ${places.join(' and ')}. Only the older line sends and receives.`,
        fix: `Sign out on one of them. To keep the newer machine, move the line there: hookline lines move ${twins[0]?.line.id} --to ${line.box === null ? 'here' : nameOf(line.box)}`,
        lineId: line.id,
        boxes: line.box === null ? undefined : [line.box],
        depends_on: null,
      }
    })
}
