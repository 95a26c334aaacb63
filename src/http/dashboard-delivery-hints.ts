// The reason why an endpoint did not accept an event, and advice for its owner.

import type { DeliveryHint } from '../api/dashboard.ts'

/** The result of an attempt: a status, or the code of an error where there was no response. */
type Cause = { readonly status_code: number | null; readonly error: string | null }

/** By the error codes of `webhooks/post.ts`. */
const ERRORS: Readonly<Record<string, DeliveryHint>> = {
  timeout: {
    title: 'No response within 10 seconds',
    advice: 'Have your endpoint respond with 200 immediately, and process the event afterwards.',
  },
  connection_refused: {
    title: 'Connection refused',
    advice: 'Nothing is listening there. Check that your endpoint is running, and on this port.',
  },
  connection_reset: {
    title: 'Connection lost',
    advice:
      'It was closed before a response arrived; check the logs of your endpoint. This also happens with an http URL for an https port.',
  },
  host_unreachable: {
    title: 'Host unreachable',
    advice:
      'Check that it is on, and on the same network. On a Mac, also allow it in System Settings, Privacy & Security, Local Network, Hookline.',
  },
  tls_error: {
    title: 'Certificate not accepted',
    advice:
      'It has expired, its issuer is unknown, or it is for another name; or the port does not use https. On your own network, you can use an http URL.',
  },
  dns_error: {
    title: 'Unknown host name',
    advice: 'No address was found for it. Check the URL for typos.',
  },
  forbidden_target: {
    title: 'Address not allowed',
    advice:
      "It is the relay's own, link-local, or a cloud's metadata address; or it is private, and your settings only allow public webhook destinations.",
  },
  invalid_url: {
    title: 'Invalid URL',
    advice: "Correct it in the webhook's settings.",
  },
}

const NO_CONNECTION: DeliveryHint = {
  title: 'Connection failed',
  advice: "Check the relay's log. The delivery is retried automatically.",
}

const STATUSES: Readonly<Record<number, DeliveryHint>> = {
  401: {
    title: 'Endpoint requires sign-in',
    advice:
      'The relay sends no credentials. Allow this path without them, and verify the signature instead.',
  },
  403: {
    title: 'Endpoint denied access',
    advice:
      'A firewall or proxy rule may block the request. Allow this path, and verify the signature.',
  },
  404: {
    title: 'Path not found',
    advice: 'The server is running. Check the path in the URL, and that your endpoint is deployed.',
  },
  405: {
    title: 'POST not accepted',
    advice: 'Events are sent as POST requests. Check the path in the URL.',
  },
  410: {
    title: 'Endpoint returned 410 Gone',
    advice:
      'After a second 410 the relay stops delivering. Correct the URL, or delete the webhook.',
  },
  429: {
    title: 'Endpoint is limiting requests',
    advice: 'The relay waits as long as requested, and then continues automatically.',
  },
}

/** Null for a successful attempt. */
export function hintFor({ status_code, error }: Cause, url: string): DeliveryHint | null {
  if (status_code === null) return errorHint(error, url)
  if (status_code >= 200 && status_code < 300) return null
  const { title, advice } = STATUSES[status_code] ?? classHint(status_code)
  const isNamed = title.includes(String(status_code))
  return { title: isNamed ? title : `${title} (${status_code})`, advice }
}

/** A loopback address, with or without a port. */
const OWN_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/

function errorHint(error: string | null, url: string): DeliveryHint {
  const hint = ERRORS[error ?? ''] ?? NO_CONNECTION
  const isOwnMachine = URL.canParse(url) && OWN_MACHINE.test(new URL(url).host)
  if (error !== 'connection_refused' || !isOwnMachine) return hint
  const { title, advice } = hint
  return { title, advice: `${advice} This address is the computer that runs the relay.` }
}

function classHint(status: number): DeliveryHint {
  if (status < 400) {
    return {
      title: 'Endpoint redirects',
      advice: 'Redirects are not followed. Use the URL that it redirects to.',
    }
  }
  if (status < 500) {
    return {
      title: 'Endpoint rejected the event',
      advice:
        'Its response may say why. A common cause: the signature is verified against a body that was already parsed.',
    }
  }
  return {
    title: 'Endpoint failed',
    advice: "Your endpoint returned an error; check its logs. We'll keep retrying.",
  }
}
