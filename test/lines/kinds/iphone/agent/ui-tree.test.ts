import { describe, expect, test } from 'bun:test'

import { parseTree, skeletonOf } from '../../../../../src/lines/kinds/iphone/agent/ui-tree.ts'
import { node } from '../../../../support/iphone/messages-tree.ts'

const NUMBER = '+1 (202) 555-0123'

describe('a tree', () => {
  test('that is too deep is cut, and one that is too large is none', () => {
    let deep: unknown = node('Other', 'deepest')
    for (let i = 0; i < 200; i += 1) deep = { type: 'Other', children: [deep] }
    const wide = {
      type: 'Other',
      children: Array.from({ length: 20_001 }, () => ({ type: 'Cell' })),
    }

    expect(skeletonOf(parsed(deep)).split('\n')).toHaveLength(100)
    expect(parseTree(wide)).toBeNull()
  })

  test('with broken parts is read without them', () => {
    const broken = {
      type: 'XCUIElementTypeOther',
      label: 7,
      rect: { x: 'a', width: Number.NaN },
      children: [null, 'text', { label: 'no type' }, { type: 'Cell', label: 'kept' }],
    }

    expect(parseTree(broken)).toMatchObject({
      type: 'Other',
      label: null,
      rect: { x: 0, y: 0, width: 0, height: 0 },
      children: [{ type: 'Cell', label: 'kept' }],
    })
    expect([null, 'text', [], {}].map(parseTree)).toEqual([null, null, null, null])
  })

  test('in diagnostics has nothing of what anybody wrote, nor a number', () => {
    const secret = node('Other', null, { label: `${NUMBER}, a secret, 1:30 PM` })
    const json = node('Application', null, {
      children: [
        node('Button', 'ConversationTitle', { label: NUMBER }),
        node('Cell', null, { children: [secret] }),
        node('Other', NUMBER),
        node('Other', 'Anna'),
        node('Other', 'lockscreen-date-view'),
        node('NavigationBar', 'AuntEm'),
      ],
    })

    const skeleton = skeletonOf(parsed(json))

    expect(skeleton).toBe(
      [
        'Application',
        ` Button #ConversationTitle label:${NUMBER.length}`,
        ' Cell',
        `  Other label:${NUMBER.length + 19}`,
        ` Other #(${NUMBER.length})`,
        ' Other #(4)',
        ' Other #lockscreen-date-view',
        ' NavigationBar #(6)',
      ].join('\n'),
    )
  })
})

function parsed(json: unknown) {
  const root = parseTree(json)
  if (root === null) throw new Error('The tree of the test is none.')
  return root
}
