// The answers of the API about webhooks.

export type {
  SeenAttempt as Attempt,
  SeenDelivery,
  SentRequest,
  WebhookDay,
} from '../../api/dashboard.ts'
export type {
  CreatedWebhook,
  Delivery,
  ReplayAnswer,
  ReplayState,
  RetryAnswer,
  RotatedSecret,
  StoppedReplay,
} from '../../api/webhooks.ts'
