// The manual of this version, compiled in: served at `/guide`, printed by `hookline guide`.

import alerts from './alerts.md' with { type: 'text' }
import api from './api.md' with { type: 'text' }
import backups from './backups.md' with { type: 'text' }
import benchmarks from './benchmarks.md' with { type: 'text' }
import caddy from './caddy.md' with { type: 'text' }
import changelog from './changelog.md' with { type: 'text' }
import clients from './clients.md' with { type: 'text' }
import commandLine from './command-line.md' with { type: 'text' }
import compatibleApis from './compatible-apis.md' with { type: 'text' }
import design from './design.md' with { type: 'text' }
import errors from './errors.md' with { type: 'text' }
import eventReference from './event-reference.md' with { type: 'text' }
import events from './events.md' with { type: 'text' }
import fake from './fake.md' with { type: 'text' }
import faq from './faq.md' with { type: 'text' }
import findings from './findings.md' with { type: 'text' }
import grafana from './grafana.md' with { type: 'text' }
import homeAssistant from './home-assistant.md' with { type: 'text' }
import iphone from './iphone.md' with { type: 'text' }
import keys from './keys.md' with { type: 'text' }
import limits from './limits.md' with { type: 'text' }
import mac from './mac.md' with { type: 'text' }
import mcp from './mcp.md' with { type: 'text' }
import messageStates from './message-states.md' with { type: 'text' }
import n8n from './n8n.md' with { type: 'text' }
import night from './night.md' with { type: 'text' }
import openclaw from './openclaw.md' with { type: 'text' }
import operations from './operations.md' with { type: 'text' }
import optOuts from './opt-outs.md' with { type: 'text' }
import richMessages from './rich-messages.md' with { type: 'text' }
import security from './security.md' with { type: 'text' }
import sendingRules from './sending-rules.md' with { type: 'text' }
import severalBoxes from './several-boxes.md' with { type: 'text' }
import severalShops from './several-shops.md' with { type: 'text' }
import shortcuts from './shortcuts.md' with { type: 'text' }
import simulatedLines from './simulated-lines.md' with { type: 'text' }
import stayingWelcome from './staying-welcome.md' with { type: 'text' }
import tailscale from './tailscale.md' with { type: 'text' }
import uninstall from './uninstall.md' with { type: 'text' }
import upgrade from './upgrade.md' with { type: 'text' }
import webhooks from './webhooks.md' with { type: 'text' }

export type Guide = {
  /** The name in `/guide/NAME` and `hookline guide NAME`. */
  readonly name: string
  readonly title: string
  /** Markdown. A link to another guide is its name, with the id of a heading: `mac#good-to-know`. */
  readonly text: string
}

export type GuideGroup = { readonly title: string; readonly guides: readonly Guide[] }

/** In the order of reading. */
export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    title: 'Set up a line',
    guides: [
      guide('mac', mac),
      guide('iphone', iphone),
      guide('shortcuts', shortcuts),
      guide('simulated-lines', simulatedLines),
    ],
  },
  {
    title: 'Send and receive',
    guides: [
      guide('api', api),
      guide('message-states', messageStates),
      guide('errors', errors),
      guide('limits', limits),
      guide('keys', keys),
      guide('sending-rules', sendingRules),
      guide('opt-outs', optOuts),
      guide('staying-welcome', stayingWelcome),
      guide('rich-messages', richMessages),
      guide('webhooks', webhooks),
      guide('event-reference', eventReference),
      guide('events', events),
      guide('clients', clients),
      guide('fake', fake),
    ],
  },
  {
    title: 'Connect programs',
    guides: [
      guide('compatible-apis', compatibleApis),
      guide('mcp', mcp),
      guide('openclaw', openclaw),
      guide('n8n', n8n),
      guide('home-assistant', homeAssistant),
    ],
  },
  {
    title: 'Run it',
    guides: [
      guide('operations', operations),
      guide('findings', findings),
      guide('backups', backups),
      guide('upgrade', upgrade),
      guide('night', night),
      guide('alerts', alerts),
      guide('several-shops', severalShops),
      guide('several-boxes', severalBoxes),
      guide('grafana', grafana),
      guide('security', security),
      guide('caddy', caddy),
      guide('tailscale', tailscale),
    ],
  },
  {
    title: 'Reference',
    guides: [
      guide('command-line', commandLine),
      guide('faq', faq),
      guide('benchmarks', benchmarks),
      guide('design', design),
      guide('changelog', changelog),
      guide('uninstall', uninstall),
    ],
  },
]

export const GUIDES = GUIDE_GROUPS.flatMap(({ guides }) => guides)

export function findGuide(name: string): Guide | null {
  return GUIDES.find((guide) => guide.name === name) ?? null
}

function guide(name: string, text: string): Guide {
  return { name, text, title: /^# (.+)$/m.exec(text)?.[1] ?? name }
}
