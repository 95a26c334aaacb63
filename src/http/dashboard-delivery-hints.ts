// Why a receiver did not take an event, and what its owner can do about that.

import type { DeliveryHint } from '../api/dashboard.ts'

/** What an attempt ran into: a status, or the code of an error where there was no answer. */
type Cause = { readonly status_code: number | null; readonly error: string | null }

/** Where there is no answer: the words are those of `webhooks/post.ts`. */
const ERRORS: Readonly<Record<string, DeliveryHint>> = {
  timeout: {
    title: 'No answer within 10 seconds',
    advice: 'Have the receiver answer at once with 200, and do its work afterwards.',
  },
  connection_refused: {
    title: 'Connection refused',
    advice: 'Nothing listens there. Does the receiver run, and on this port?',
  },
  connection_reset: {
    title: 'The connection broke off',
    advice:
      'It was closed before there was an answer: the log of the receiver tells more. An http URL to a port that speaks https does this too.',
  },
  host_unreachable: {
    title: 'The host cannot be reached',
    advice:
      'Is it switched on, and in the same network? A Mac also has to allow it: System Settings, Privacy & Security, Local Network, Hookline.',
  },
  tls_error: {
    title: 'The certificate is not accepted',
    advice:
      'It is expired, signed by nobody known, or of another name; or the port does not speak https. A receiver in your own network can have an http URL.',
  },
  dns_error: {
    title: 'The name is not known',
    advice: 'No address was found for it: look for a slip in the URL.',
  },
  forbidden_target: {
    title: 'The relay may not call this address',
    advice:
      "It is the relay itself, link-local, or of a cloud's metadata; or private, while the setting for webhook targets allows public ones only.",
  },
  invalid_url: {
    title: 'The URL cannot be used',
    advice: 'Correct it in the settings of the webhook.',
  },
}

const NO_CONNECTION: DeliveryHint = {
  title: 'The connection failed',
  advice: 'The log of the relay tells more; it is tried again by itself.',
}

const STATUSES: Readonly<Record<number, DeliveryHint>> = {
  401: {
    title: 'The receiver wants a log-in',
    advice: 'The relay sends none: let this path in without one, and check the signature instead.',
  },
  403: {
    title: 'The receiver does not let the relay in',
    advice: 'A firewall or a rule before it may refuse; let this path in, and check the signature.',
  },
  404: {
    title: 'There is nothing at this path',
    advice: 'The server runs. Look at the path of the URL, and whether the receiver is deployed.',
  },
  405: {
    title: 'The path takes no POST',
    advice: 'Events come as POST. Look at the path of the URL.',
  },
  410: {
    title: 'The receiver says that it is gone for good',
    advice:
      'The relay stops delivering when it says so twice. Correct the URL, or delete the webhook.',
  },
  429: {
    title: 'The receiver asks for a pause',
    advice: 'The relay waits as long as it was told to, and goes on by itself.',
  },
}

/** Null for an attempt that went well. */
export function hintFor({ status_code, error }: Cause, url: string): DeliveryHint | null {
  if (status_code === null) return errorHint(error, url)
  if (status_code >= 200 && status_code < 300) return null
  const { title, advice } = STATUSES[status_code] ?? classHint(status_code)
  return { title: `${title} (${status_code})`, advice }
}

/** A loopback address, with or without a port. */
const OWN_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/

function errorHint(error: string | null, url: string): DeliveryHint {
  const hint = ERRORS[error ?? ''] ?? NO_CONNECTION
  const isOwnMachine = URL.canParse(url) && OWN_MACHINE.test(new URL(url).host)
  if (error !== 'connection_refused' || !isOwnMachine) return hint
  const { title, advice } = hint
  return { title, advice: `${advice} This address means the machine of the relay itself.` }
}

function classHint(status: number): DeliveryHint {
  if (status < 400) {
    return {
      title: 'The receiver sends elsewhere',
      advice: 'Redirects are not followed: set the address that it leads to as the URL.',
    }
  }
  if (status < 500) {
    return {
      title: 'Your endpoint refuses',
      advice:
        'It got the event and did not take it. Its answer may say why; often the signature is checked against a body that was parsed before.',
    }
  }
  return {
    title: 'The receiver failed',
    advice: 'The fault is within it, and its log tells more. It is tried again by itself.',
  }
}
