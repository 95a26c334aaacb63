// The routes of replays and retries, with what each asks of the webhooks module and what it answers.

import { expect, test } from 'bun:test'

import { ORIGIN, LINE, TIME, WEBHOOK, createRig, type Asked, type More } from './http-rig.ts'

type Story = {
  readonly name: string
  readonly ask: readonly [method: string, path: string, more?: More]
  readonly status: number
  readonly body: unknown
  readonly asked: readonly Asked[]
}

const RETRY = { events: null, lineId: null, isDryRun: false }
const REPLAY = { ...RETRY, since: 1_795_255_200_000, includesEarlier: false }

const STORIES: readonly Story[] = [
  {
    name: 'what a webhook missed is sent again',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/replay`, { body: { since: TIME } }],
    status: 202,
    body: { replayed: 3 },
    asked: [['webhooks.replay', WEBHOOK.id, REPLAY, ORIGIN]],
  },
  {
    name: 'what a replay would send is counted',
    ask: [
      'POST',
      `/api/v1/webhooks/${WEBHOOK.id}/replay`,
      {
        body: {
          since: TIME,
          dry_run: true,
          include_earlier: true,
          events: ['message.read'],
          phone_line_id: LINE.id,
        },
      },
    ],
    status: 200,
    body: { replayed: 0, would_replay: 3 },
    asked: [
      [
        'webhooks.replay',
        WEBHOOK.id,
        {
          ...REPLAY,
          events: ['message.read'],
          lineId: LINE.id,
          isDryRun: true,
          includesEarlier: true,
        },
        ORIGIN,
      ],
    ],
  },
  {
    name: 'failed deliveries are retried, without a body',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/retry-failed`],
    status: 202,
    body: { retried: 2 },
    asked: [['webhooks.retryFailed', WEBHOOK.id, RETRY, ORIGIN]],
  },
  {
    name: 'failed deliveries are counted',
    ask: ['POST', `/api/v1/webhooks/${WEBHOOK.id}/retry-failed`, { body: { dry_run: true } }],
    status: 200,
    body: { retried: 0, would_retry: 2 },
    asked: [['webhooks.retryFailed', WEBHOOK.id, { ...RETRY, isDryRun: true }, ORIGIN]],
  },
  {
    name: 'how much of a replay waits is read',
    ask: ['GET', `/api/v1/webhooks/${WEBHOOK.id}/replay`],
    status: 200,
    body: { waiting: 4 },
    asked: [['webhooks.countReplayed', WEBHOOK.id]],
  },
  {
    name: 'a replay is stopped',
    ask: ['DELETE', `/api/v1/webhooks/${WEBHOOK.id}/replay`],
    status: 200,
    body: { stopped: 5 },
    asked: [['webhooks.stopReplay', WEBHOOK.id, ORIGIN]],
  },
]

for (const story of STORIES) {
  test(story.name, async () => {
    const rig = createRig()

    const response = await rig.call(...story.ask)

    expect(response.status).toBe(story.status)
    expect(await response.json()).toEqual(story.body)
    expect(rig.asked).toEqual(story.asked)
  })
}
