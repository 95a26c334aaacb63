// Explains failed attempts, with advice for the owner of the endpoint.

import type { DeliveryHint } from '../api/dashboard.ts'
import type { PostError } from './post.ts'

type Outcome = { readonly status_code: number | null; readonly error: string | null }

const ERRORS: Readonly<Record<PostError, DeliveryHint>> = {
  timeout: {
    title: 'No answer within 10 seconds',
    advice: 'Answer with 200 right away and do the work afterwards.',
  },
  connection_refused: {
    title: 'Connection refused',
    advice: 'Nothing is listening there. Is the endpoint running, and on this port?',
  },
  connection_reset: {
    title: 'Connection closed',
    advice:
      'It was closed before there was an answer; check the log of the endpoint. An http URL to a port that speaks https does this too.',
  },
  host_unreachable: {
    title: "Can't reach the host",
    advice:
      'Is it turned on, and on the same network? On a Mac, also allow Hookline in System Settings, Privacy & Security, Local Network.',
  },
  tls_error: {
    title: "The certificate isn't accepted",
    advice:
      'It has expired, is self-signed or has another name; or the port does not speak https. An endpoint in your own network can use http.',
  },
  dns_error: {
    title: 'Host name not found',
    advice: 'There is no address for it: check the URL for a typo.',
  },
  forbidden_target: {
    title: 'The relay may not call this address',
    advice:
      "It is the relay itself, link-local or a cloud's metadata address; or a private one, while the setting for webhook targets allows only public ones.",
  },
  invalid_url: { title: "The URL can't be used", advice: "Correct it in the webhook's settings." },
  account_ended: {
    title: 'The key of this webhook has ended',
    advice:
      'Its token signs the events. Make another key and another webhook, and delete this one.',
  },
  replies_held: {
    title: 'The replies could not be taken',
    advice:
      'The relay has no room or no line for them now, a limit is reached, or a file of theirs cannot be fetched. The event comes again.',
  },
  network_error: {
    title: 'Connection failed',
    advice: "The relay's log has details. We'll keep retrying.",
  },
}

const STATUSES: Readonly<Record<number, DeliveryHint>> = {
  401: {
    title: 'Your endpoint asks for a login',
    advice: 'The relay sends no login. Allow this path without one, and verify the signature.',
  },
  403: {
    title: 'Your endpoint refuses access',
    advice: 'A firewall or a rule may block it. Allow this path, and verify the signature.',
  },
  404: {
    title: 'Nothing at this path',
    advice: 'The server is up. Check the path of the URL, and that your endpoint is deployed.',
  },
  405: {
    title: "The path doesn't accept POST",
    advice: 'Events are sent as POST. Check the path of the URL.',
  },
  410: {
    title: 'Your endpoint says that it is gone',
    advice:
      'After the second one the relay stops delivering. Correct the URL, or delete the webhook.',
  },
  429: {
    title: 'Your endpoint asks for a pause',
    advice: 'The relay waits as long as requested, then continues.',
  },
}

/** Returns null for a successful attempt. */
export function hintFor({ status_code, error }: Outcome, url: string): DeliveryHint | null {
  if (status_code === null) return errorHint(error, url)
  if (status_code >= 200 && status_code < 300) return null
  const { title, advice } = STATUSES[status_code] ?? classHint(status_code)
  return { title: `${title} (${status_code})`, advice }
}

/** A loopback address, with or without a port. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/

function errorHint(error: string | null, url: string): DeliveryHint {
  const hint = isPostError(error) ? ERRORS[error] : ERRORS.network_error
  const isLoopback = URL.canParse(url) && LOOPBACK.test(new URL(url).host)
  if (error !== 'connection_refused' || !isLoopback) return hint
  const { title, advice } = hint
  return { title, advice: `${advice} This address is the machine of the relay itself.` }
}

/** Another version of the relay may have stored an unknown code. */
function isPostError(error: string | null): error is PostError {
  return error !== null && Object.hasOwn(ERRORS, error)
}

function classHint(status: number): DeliveryHint {
  if (status < 400) {
    return {
      title: 'Your endpoint redirects',
      advice: 'Redirects are not followed: use the address that it leads to as the URL.',
    }
  }
  if (status < 500) {
    return {
      title: 'Your endpoint refuses',
      advice:
        'It received the event and rejected it. Its answer may say why; often the signature is checked against a body that was parsed before.',
    }
  }
  return {
    title: 'Your endpoint failed',
    advice: "It returned an error; check its logs. We'll keep retrying.",
  }
}
