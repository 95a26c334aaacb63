// Groups, reactions, replies and edits in the dashboard.

import { expect } from 'bun:test'

import { fillRichly, play } from './rich.ts'
import { COMPUTER } from './stage.ts'
import { story } from './story.ts'

story(
  'a group is listed, shows who wrote, and is answered as a group',
  async ({ stage, api, lines: [line] }) => {
    const { groupId } = await fillRichly(api, line)
    const watched = await stage.page({ viewport: COMPUTER })
    await watched.show('conversations')

    await watched.button('Groups').click()
    await watched.page.getByRole('link', { name: /Book club/ }).click()
    const { thread } = watched
    const answer = thread.getByRole('article').filter({ hasText: 'Me too!' })
    await answer.getByRole('button', { name: /Shall we read this next/ }).click()
    const quoted = thread.getByRole('article').filter({ hasText: '+1 202 555 0141' })
    const focused = await watched.page.evaluate('document.activeElement.id')
    await thread.getByRole('button', { name: '3 people' }).click()
    await watched.page.getByRole('dialog').getByText('+1 202 555 0142').waitFor()
    await watched.page.keyboard.press('Escape')
    await thread.getByRole('textbox').fill('On Friday?')
    await thread.getByRole('button', { name: 'Send', exact: true }).click()
    const own = thread.getByRole('article').filter({ hasText: 'On Friday?' })
    await own.getByText('Sent', { exact: true }).waitFor()
    const { data } = await api.ask<{ data: { text: string; conversation_id: string }[] }>(
      'GET',
      '/api/v1/messages?type=group&limit=1',
    )

    expect(
      await watched.page.getByRole('list', { name: 'Conversations' }).innerText(),
    ).not.toContain('+12025550140')
    expect(focused).toBe(await quoted.getAttribute('id'))
    expect(data).toMatchObject([{ text: 'On Friday?', conversation_id: groupId }])
  },
)

story(
  'edits unfold to the earlier texts, and a reaction appears on the open page',
  async ({ stage, api, lines: [line] }) => {
    const { personId } = await fillRichly(api, line)
    const watched = await stage.page({ viewport: COMPUTER })
    await watched.show(`conversations/${personId}`)
    const edited = watched.page.getByRole('article').filter({ hasText: 'See you at seven.' })

    await edited.getByText('Edited').click()
    await edited.getByText('See you at seen.').waitFor()
    const { data } = await api.ask<{ data: { text: string; platform_guid: string }[] }>(
      'GET',
      `/api/v1/messages?conversation_id=${personId}`,
    )
    const target_guid = data.find(({ text }) => text === 'See you at seven.')?.platform_guid
    const reaction = { type: 'reaction', from: '+12025550140', target_guid, reaction: 'laugh' }
    await play(api, line, reaction)
    await edited.getByRole('list', { name: 'Reactions' }).waitFor()

    expect(await edited.getByRole('list', { name: 'Reactions' }).innerText()).toContain(
      'Laugh from +12025550140',
    )
    await watched.reads('Message unsent')
  },
)
