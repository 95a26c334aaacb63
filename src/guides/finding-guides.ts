// The place in the manual that explains a finding, by its code.

const CODES_BY_PLACE: Readonly<Record<string, readonly string[]>> = {
  'mac#when-a-permission-or-a-connection-is-lost': [
    'automation_denied',
    'chat_db_absent',
    'chat_db_unreadable',
    'full_disk_access',
    'imessage_not_connected',
    'messages_not_answering',
    'messages_not_running',
    'messages_signed_out',
    'no_gui_session',
    'number_changed',
    'number_unknown',
    'script_refused',
    'sends_as_other_number',
    'sends_vanish',
    'several_numbers',
    'wrong_owner',
  ],
  'mac#good-to-know': ['new_contacts_paused', 'old_messages_synced'],
  'mac#what-is-not-relayed': ['group_messages_not_relayed', 'undecodable_bodies'],
  'mac#the-iphone-on-the-cable': [
    'anchor_absent',
    'anchor_ios_too_old',
    'anchor_low_battery',
    'anchor_number_mismatch',
    'iphone_not_seen',
  ],
  iphone: [
    'agent_down',
    'agent_shared',
    'agent_starting',
    'agent_stuck',
    'alert',
    'battery_empty',
    'battery_low',
    'developer_mode_off',
    'image_mount_failed',
    'imessage_off',
    'ios_too_old',
    'language_not_english',
    'launch_failed',
    'launcher_absent',
    'locked',
    'not_trusted',
    'pairing_stale',
    'passcode_locked',
    'passcode_prompt',
    'phone_has_contacts',
    'phone_number_mismatch',
    'phone_number_unknown',
    'trust_denied',
    'trust_dialog',
    'tunnel_failed',
    'unreadable',
    'usbmux_denied',
    'wrong_chat',
  ],
  'iphone#limits': ['messages_may_be_missing'],
  'iphone#unknown-screens': ['ui_unknown'],
  shortcuts: ['sender_is_a_name'],
  'shortcuts#limits': ['shortcut_silent'],
  'api#what-becomes-of-a-message': ['clock_jumped', 'messages_uncertain'],
  'api#conventions': ['limit_near', 'limit_reached', 'possible_loop'],
  'api#simulated-lines': ['not_configured', 'simulated_outage'],
  'webhooks#retries': ['webhook_deactivated', 'webhook_failing', 'webhook_gone'],
  'webhooks#verifying-a-signature': ['webhook_secret_unreadable'],
  'webhooks#where-webhooks-may-go': ['webhook_out_of_reach'],
  'operations#what-is-wrong': [
    'group_not_reachable',
    'heartbeat_failed',
    'messages_failing',
    'queue_growing',
  ],
  'operations#run-as-a-service': [
    'auto_login_off',
    'autorestart_off',
    'executable_changed',
    'update_available',
    'filevault_on',
    'linger_off',
    'sleep_enabled',
  ],
  'operations#backups': ['storage_full'],
  'keys#expiry': ['keys_expire'],
  'security#on-a-network': ['certificate_expires', 'certificate_not_renewed', 'lan_without_tls'],
  'security#the-dashboards-password': ['short_password'],
}

const PLACES: ReadonlyMap<string, string> = new Map(
  Object.entries(CODES_BY_PLACE).flatMap(([place, codes]) => codes.map((code) => [code, place])),
)

/** Name of a guide, with the id of a heading where there is one; null for a finding without a guide. */
export function guideOf(findingCode: string): string | null {
  return PLACES.get(findingCode) ?? null
}

/** Every place to which findings lead. */
export const FINDING_PLACES: readonly string[] = Object.keys(CODES_BY_PLACE)
