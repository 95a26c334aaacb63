CREATE TABLE `audit` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`count` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`address` text,
	`request_id` text,
	`action` text NOT NULL,
	`about_kind` text NOT NULL,
	`about_id` text,
	`before` text,
	`after` text,
	CONSTRAINT "actor_kind_is_known" CHECK(`actor_kind` = 'key' OR `actor_kind` = 'cli' OR `actor_kind` = 'dashboard' OR `actor_kind` = 'member' OR `actor_kind` = 'relay'),
	CONSTRAINT "action_is_a_name" CHECK(`action` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "about_kind_is_a_name" CHECK(`about_kind` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "before_is_json" CHECK(`before` IS NULL OR json_valid(`before`)),
	CONSTRAINT "after_is_json" CHECK(`after` IS NULL OR json_valid(`after`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_id_unique` ON `audit` (`id`);--> statement-breakpoint
CREATE INDEX `audit_by_age` ON `audit` (`at`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit` (`action`,`at`);--> statement-breakpoint
CREATE TABLE `dashboard_members` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`password_hash` text,
	`link_sha256` blob,
	`link_made_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`removed_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `dashboard_members_by_name` ON `dashboard_members` (`name_key`) WHERE removed_at IS NULL;--> statement-breakpoint
CREATE TABLE `dashboard_networks` (
	`network` text PRIMARY KEY NOT NULL,
	`signed_in_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dashboard_owner` (
	`id` integer PRIMARY KEY NOT NULL,
	`password_hash` text NOT NULL,
	`password_set_at` integer NOT NULL,
	`setup_step` text
) STRICT;
--> statement-breakpoint
CREATE TABLE `dashboard_sessions` (
	`token_sha256` blob PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`elevated_until` integer NOT NULL,
	`page_key_sha256` blob,
	`member_id` text,
	FOREIGN KEY (`member_id`) REFERENCES `dashboard_members`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `attachments` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`filename` text NOT NULL,
	`mime_type` text NOT NULL,
	`declared_type` text,
	`size` integer,
	`sha256` text,
	`width` integer,
	`height` integer,
	`duration_ms` integer,
	`direction` text NOT NULL,
	`state` text NOT NULL,
	`message_id` text,
	`device_guid` text,
	`upload_key` text,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	CONSTRAINT "direction_is_known" CHECK(`direction` = 'inbound' OR `direction` = 'outbound'),
	CONSTRAINT "state_is_known" CHECK(`state` = 'pending' OR `state` = 'available' OR `state` = 'failed' OR `state` = 'missing' OR `state` = 'not_kept' OR `state` = 'deleted')
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `attachments_id_unique` ON `attachments` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `attachments_upload_key_unique` ON `attachments` (`upload_key`);--> statement-breakpoint
CREATE INDEX `attachments_by_sha256` ON `attachments` (`sha256`);--> statement-breakpoint
CREATE INDEX `attachments_by_expiry` ON `attachments` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `attachments_pending` ON `attachments` (`created_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE TABLE `message_attachments` (
	`message_id` text NOT NULL,
	`position` integer NOT NULL,
	`attachment_seq` integer NOT NULL,
	`is_sent` integer,
	PRIMARY KEY(`message_id`, `position`),
	FOREIGN KEY (`attachment_seq`) REFERENCES `attachments`(`seq`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `message_attachments_by_attachment` ON `message_attachments` (`attachment_seq`);--> statement-breakpoint
CREATE TABLE `opt_outs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`handle` text NOT NULL,
	`line_id` text,
	`keyword` text,
	`message_id` text,
	`source` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "source_is_known" CHECK(`source` = 'keyword' OR `source` = 'api' OR `source` = 'cli' OR `source` = 'dashboard')
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_by_handle` ON `opt_outs` (`handle`,`line_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_of_all_lines` ON `opt_outs` (`handle`) WHERE line_id IS NULL;--> statement-breakpoint
CREATE TABLE `people` (
	`seq` integer PRIMARY KEY NOT NULL,
	`handle` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`note` text,
	`tags` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "tags_is_json" CHECK(`tags` IS NULL OR json_valid(`tags`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `people_handle_unique` ON `people` (`handle`);--> statement-breakpoint
CREATE INDEX `people_by_name` ON `people` (`name_key`);--> statement-breakpoint
CREATE TABLE `search_progress` (
	`name` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	CONSTRAINT "name_is_a_name" CHECK(`name` NOT GLOB '*[^a-z._]*')
) STRICT;
--> statement-breakpoint
CREATE TABLE `about` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `contact_days` (
	`line_id` text NOT NULL,
	`day` integer NOT NULL,
	`spent` integer NOT NULL,
	PRIMARY KEY(`line_id`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `contacts` (
	`line_id` text NOT NULL,
	`handle` text NOT NULL,
	`known_at` integer,
	`queued` integer NOT NULL,
	`passed` integer NOT NULL,
	`spent_day` integer,
	PRIMARY KEY(`line_id`, `handle`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `conversations` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`line_id` text NOT NULL,
	`phone_number` text NOT NULL,
	`handle` text NOT NULL,
	`service` text NOT NULL,
	`message_count` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`read_seq` integer DEFAULT 0 NOT NULL,
	`unread_count` integer DEFAULT 0 NOT NULL,
	`is_unanswered` integer DEFAULT false NOT NULL,
	`automation_paused` integer DEFAULT false NOT NULL,
	`moved_to` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`line_id`) REFERENCES `lines`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`moved_to`) REFERENCES `conversations`(`seq`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_id_unique` ON `conversations` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_by_line_and_handle` ON `conversations` (`line_id`,`handle`);--> statement-breakpoint
CREATE INDEX `conversations_by_line_and_last` ON `conversations` (`line_id`,`last_seq`);--> statement-breakpoint
CREATE INDEX `conversations_unread` ON `conversations` (`line_id`,`last_seq`) WHERE unread_count > 0;--> statement-breakpoint
CREATE INDEX `conversations_unanswered` ON `conversations` (`line_id`,`last_seq`) WHERE is_unanswered = 1;--> statement-breakpoint
CREATE INDEX `conversations_by_handle` ON `conversations` (`handle`);--> statement-breakpoint
CREATE INDEX `conversations_by_move` ON `conversations` (`moved_to`) WHERE moved_to IS NOT NULL;--> statement-breakpoint
CREATE TABLE `credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`name` text,
	`phone_number` text,
	`key` text,
	`secret_sha256` blob NOT NULL,
	`hint` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`secret_created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer,
	`scopes` text,
	`phone_line_ids` text,
	`expires_at` integer,
	`rules` text,
	CONSTRAINT "scopes_is_json" CHECK(`scopes` IS NULL OR json_valid(`scopes`)),
	CONSTRAINT "phone_line_ids_is_json" CHECK(`phone_line_ids` IS NULL OR json_valid(`phone_line_ids`)),
	CONSTRAINT "rules_is_json" CHECK(`rules` IS NULL OR json_valid(`rules`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `credentials_key_unique` ON `credentials` (`key`);--> statement-breakpoint
CREATE UNIQUE INDEX `credentials_secret_sha256_unique` ON `credentials` (`secret_sha256`);--> statement-breakpoint
CREATE UNIQUE INDEX `credentials_by_number` ON `credentials` (`phone_number`) WHERE revoked_at IS NULL;--> statement-breakpoint
CREATE TABLE `groups` (
	`seq` integer PRIMARY KEY NOT NULL,
	`chat_guid` text NOT NULL,
	`name` text,
	`participants` text NOT NULL,
	`state` text NOT NULL,
	FOREIGN KEY (`seq`) REFERENCES `conversations`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "participants_is_json" CHECK(`participants` IS NULL OR json_valid(`participants`)),
	CONSTRAINT "state_is_known" CHECK(`state` = 'active' OR `state` = 'left' OR `state` = 'unreachable')
) STRICT;
--> statement-breakpoint
CREATE INDEX `groups_by_state` ON `groups` (`state`);--> statement-breakpoint
CREATE TABLE `idempotency` (
	`key` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`message_id` text NOT NULL,
	`answer` text,
	`body` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "answer_is_known" CHECK(`answer` = 'sent' OR `answer` = 'accepted' OR `answer` = 'send_failed')
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `idempotency_by_age` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `key_sends` (
	`key_id` text NOT NULL,
	`at` integer NOT NULL,
	`message_id` text NOT NULL,
	PRIMARY KEY(`key_id`, `at`, `message_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `known_guids` (
	`line_id` text NOT NULL,
	`guid` text NOT NULL,
	`message_id` text NOT NULL,
	PRIMARY KEY(`guid`, `line_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `boxes` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`public_key` text,
	`invitation_key` text,
	`invited_until` integer,
	`created_at` integer NOT NULL,
	`joined_at` integer,
	`removed_at` integer,
	`version` text,
	`platform` text,
	`last_heard_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `boxes_public_key_unique` ON `boxes` (`public_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `boxes_by_name` ON `boxes` (`name`) WHERE removed_at IS NULL;--> statement-breakpoint
CREATE TABLE `lines` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`driver` text NOT NULL,
	`device_key` text NOT NULL,
	`box` text,
	`moves_to` text,
	`phone_number` text NOT NULL,
	`label` text,
	`daily_contact_limit` integer NOT NULL,
	`is_enabled` integer NOT NULL,
	`quiet_hours` text,
	`relay_sms` integer NOT NULL,
	`relay_groups` integer DEFAULT false NOT NULL,
	`checkpoint` text,
	`contacts_reserved` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	CONSTRAINT "driver_is_a_name" CHECK(`driver` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "quiet_hours_is_json" CHECK(`quiet_hours` IS NULL OR json_valid(`quiet_hours`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `lines_id_unique` ON `lines` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `lines_by_device` ON `lines` (`driver`,`device_key`) WHERE deleted_at IS NULL AND box IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `lines_by_box` ON `lines` (`driver`,`box`,`device_key`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE TABLE `messages` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`line_seq` integer NOT NULL,
	`conversation_seq` integer NOT NULL,
	`phone_number` text NOT NULL,
	`handle` text NOT NULL,
	`direction` text NOT NULL,
	`status` text NOT NULL,
	`service` text NOT NULL,
	`text` text NOT NULL,
	`guid` text NOT NULL,
	`platform_guid` text,
	`is_group` integer DEFAULT false NOT NULL,
	`extras` text,
	`source` text NOT NULL,
	`is_pinned` integer DEFAULT false NOT NULL,
	`queued_reason` text,
	`waits_from` integer NOT NULL,
	`due_at` integer,
	`round` integer DEFAULT 0 NOT NULL,
	`refused_by` text,
	`contact_hold` text DEFAULT 'none' NOT NULL,
	`note` text,
	`passed_at` integer,
	`error_code` text,
	`error_message` text,
	`revision` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`sent_at` integer,
	`delivered_at` integer,
	`read_at` integer,
	FOREIGN KEY (`line_seq`) REFERENCES `lines`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`conversation_seq`) REFERENCES `conversations`(`seq`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "direction_is_known" CHECK(`direction` = 'inbound' OR `direction` = 'outbound'),
	CONSTRAINT "status_is_known" CHECK(`status` = 'queued' OR `status` = 'sending' OR `status` = 'sent' OR `status` = 'delivered' OR `status` = 'read' OR `status` = 'failed' OR `status` = 'expired' OR `status` = 'uncertain' OR `status` = 'received' OR `status` = 'deferred'),
	CONSTRAINT "source_is_known" CHECK(`source` = 'api' OR `source` = 'cli' OR `source` = 'dashboard' OR `source` = 'device'),
	CONSTRAINT "queued_reason_is_a_name" CHECK(`queued_reason` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "contact_hold_is_known" CHECK(`contact_hold` = 'none' OR `contact_hold` = 'undecided' OR `contact_hold` = 'reserved' OR `contact_hold` = 'spent'),
	CONSTRAINT "refused_by_is_json" CHECK(`refused_by` IS NULL OR json_valid(`refused_by`)),
	CONSTRAINT "extras_is_json" CHECK(`extras` IS NULL OR json_valid(`extras`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id_unique` ON `messages` (`id`);--> statement-breakpoint
CREATE INDEX `messages_by_line` ON `messages` (`line_seq`);--> statement-breakpoint
CREATE INDEX `messages_by_conversation` ON `messages` (`conversation_seq`);--> statement-breakpoint
CREATE INDEX `messages_by_direction` ON `messages` (`direction`);--> statement-breakpoint
CREATE INDEX `messages_by_status` ON `messages` (`status`);--> statement-breakpoint
CREATE INDEX `messages_by_change` ON `messages` (`updated_at`,`revision`);--> statement-breakpoint
CREATE INDEX `messages_due_by_line` ON `messages` (`line_seq`,`due_at`) WHERE status = 'queued' AND due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `messages_deferred` ON `messages` (`due_at`) WHERE status = 'deferred';--> statement-breakpoint
CREATE INDEX `messages_queued_later` ON `messages` (`waits_from`) WHERE status = 'queued' AND waits_from > created_at;--> statement-breakpoint
CREATE INDEX `messages_to_announce` ON `messages` (`due_at`) WHERE (status = 'uncertain' OR status = 'received') AND due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `messages_unfinished_by_conversation` ON `messages` (`conversation_seq`,`waits_from`) WHERE status = 'queued' OR status = 'sending' OR status = 'uncertain';--> statement-breakpoint
CREATE TABLE `not_relayed` (
	`line_id` text NOT NULL,
	`kind` text NOT NULL,
	`count` integer NOT NULL,
	`since` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`line_id`, `kind`),
	CONSTRAINT "kind_is_a_name" CHECK(`kind` NOT GLOB '*[^a-z._]*')
) STRICT;
--> statement-breakpoint
CREATE TABLE `rejected_events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`line_id` text NOT NULL,
	`reason` text NOT NULL,
	`recorded_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `rejected_events_by_age` ON `rejected_events` (`recorded_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `snoozes` (
	`finding` text PRIMARY KEY NOT NULL,
	`severity` text NOT NULL,
	`until` integer NOT NULL,
	CONSTRAINT "severity_is_a_name" CHECK(`severity` NOT GLOB '*[^a-z._]*')
) STRICT;
--> statement-breakpoint
CREATE TABLE `waiting_changes` (
	`seq` integer PRIMARY KEY NOT NULL,
	`line_id` text NOT NULL,
	`guid` text NOT NULL,
	`body` text NOT NULL,
	`recorded_at` integer NOT NULL,
	CONSTRAINT "body_is_json" CHECK(`body` IS NULL OR json_valid(`body`))
) STRICT;
--> statement-breakpoint
CREATE INDEX `waiting_changes_by_guid` ON `waiting_changes` (`line_id`,`guid`);--> statement-breakpoint
CREATE TABLE `waiting_receipts` (
	`line_id` text NOT NULL,
	`guid` text NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`reason` text,
	`service` text,
	`recorded_at` integer NOT NULL,
	PRIMARY KEY(`line_id`, `guid`, `kind`),
	CONSTRAINT "kind_is_known" CHECK(`kind` = 'sent' OR `kind` = 'delivered' OR `kind` = 'read' OR `kind` = 'failed')
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `waiting_receipts_by_age` ON `waiting_receipts` (`recorded_at`);--> statement-breakpoint
CREATE TABLE `line_states` (
	`line_seq` integer NOT NULL,
	`at` integer NOT NULL,
	`reason` text,
	PRIMARY KEY(`line_seq`, `at`),
	CONSTRAINT "reason_is_a_name" CHECK(`reason` NOT GLOB '*[^a-z._]*')
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `message_quarters` (
	`quarter` integer NOT NULL,
	`line_seq` integer NOT NULL,
	`sent` integer NOT NULL,
	`received` integer NOT NULL,
	`failed` integer NOT NULL,
	`uncertain` integer NOT NULL,
	`timed` integer NOT NULL,
	`timed_ms` integer NOT NULL,
	`ms_1000` integer NOT NULL,
	`ms_5000` integer NOT NULL,
	`ms_30000` integer NOT NULL,
	`ms_300000` integer NOT NULL,
	PRIMARY KEY(`quarter`, `line_seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `queue_samples` (
	`at` integer PRIMARY KEY NOT NULL,
	`messages` integer NOT NULL,
	`deliveries` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `relay_runs` (
	`started_at` integer PRIMARY KEY NOT NULL,
	`alive_at` integer NOT NULL,
	`stopped_at` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `webhook_quarters` (
	`quarter` integer NOT NULL,
	`webhook_seq` integer NOT NULL,
	`outcome` text NOT NULL,
	`attempts` integer NOT NULL,
	`total_ms` integer NOT NULL,
	`ms_50` integer NOT NULL,
	`ms_250` integer NOT NULL,
	`ms_1000` integer NOT NULL,
	`ms_5000` integer NOT NULL,
	PRIMARY KEY(`quarter`, `webhook_seq`, `outcome`),
	CONSTRAINT "outcome_is_known" CHECK(`outcome` = 'delivered' OR `outcome` = 'http_4xx' OR `outcome` = 'http_5xx' OR `outcome` = 'http_other' OR `outcome` = 'timeout' OR `outcome` = 'refused' OR `outcome` = 'reset' OR `outcome` = 'unreachable' OR `outcome` = 'tls' OR `outcome` = 'dns' OR `outcome` = 'other')
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `attempts` (
	`delivery_seq` integer NOT NULL,
	`number` integer NOT NULL,
	`trigger` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status_code` integer,
	`error` text,
	`response_excerpt` text,
	`is_private_target` integer NOT NULL,
	PRIMARY KEY(`delivery_seq`, `number`),
	FOREIGN KEY (`delivery_seq`) REFERENCES `deliveries`(`seq`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "trigger_is_known" CHECK(`trigger` = 'scheduled' OR `trigger` = 'probe' OR `trigger` = 'manual')
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`event_seq` integer NOT NULL,
	`event` text NOT NULL,
	`conversation_id` text,
	`status` text NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`scheduled_count` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`requested_at` integer,
	`replayed_at` integer,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`event_seq`) REFERENCES `events`(`seq`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "status_is_known" CHECK(`status` = 'pending' OR `status` = 'succeeded' OR `status` = 'exhausted'),
	CONSTRAINT "event_is_a_name" CHECK(`event` NOT GLOB '*[^a-z._]*')
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_id_unique` ON `deliveries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_event` ON `deliveries` (`event_seq`,`webhook_id`);--> statement-breakpoint
CREATE INDEX `deliveries_by_webhook_and_status` ON `deliveries` (`webhook_id`,`status`);--> statement-breakpoint
CREATE INDEX `deliveries_by_name` ON `deliveries` (`webhook_id`,`event`,`status`);--> statement-breakpoint
CREATE INDEX `deliveries_by_conversation` ON `deliveries` (`conversation_id`,`webhook_id`);--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`webhook_id`,`next_attempt_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_requested` ON `deliveries` (`webhook_id`) WHERE requested_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_replayed` ON `deliveries` (`webhook_id`) WHERE status = 'pending' AND replayed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_by_completion` ON `deliveries` (`completed_at`) WHERE completed_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`message_id` text,
	`conversation_id` text,
	`body` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "name_is_a_name" CHECK(`name` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "body_is_json" CHECK(`body` IS NULL OR json_valid(`body`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `events_id_unique` ON `events` (`id`);--> statement-breakpoint
CREATE TABLE `webhook_secrets` (
	`seq` integer PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_secrets_by_webhook` ON `webhook_secrets` (`webhook_id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`is_active` integer NOT NULL,
	`description` text,
	`attachment_links` integer DEFAULT false NOT NULL,
	`phone_line_ids` text,
	`is_public_only` integer DEFAULT false NOT NULL,
	`disabled_reason` text,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer,
	`failures_in_row` integer DEFAULT 0 NOT NULL,
	`rest_until` integer,
	`probe_at` integer,
	`failing_since` integer,
	`gone_at` integer,
	CONSTRAINT "events_is_json" CHECK(`events` IS NULL OR json_valid(`events`)),
	CONSTRAINT "phone_line_ids_is_json" CHECK(`phone_line_ids` IS NULL OR json_valid(`phone_line_ids`)),
	CONSTRAINT "disabled_reason_is_known" CHECK(`disabled_reason` = 'gone' OR `disabled_reason` = 'failing' OR `disabled_reason` = 'secret_unreadable')
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhooks_id_unique` ON `webhooks` (`id`);--> statement-breakpoint
CREATE TRIGGER `message_quarters_at_insert` AFTER INSERT ON `messages`
WHEN NEW.`status` <> 'queued' AND NEW.`status` <> 'deferred' AND NEW.`status` <> 'sending'
BEGIN
	INSERT INTO `message_quarters` VALUES (NEW.`created_at` / 900000, NEW.`line_seq`,
		NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read',
		NEW.`status` = 'received',
		NEW.`status` = 'failed' OR NEW.`status` = 'expired',
		NEW.`status` = 'uncertain', 0, 0, 0, 0, 0, 0)
	ON CONFLICT (`quarter`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`received` = `received` + excluded.`received`, `failed` = `failed` + excluded.`failed`,
		`uncertain` = `uncertain` + excluded.`uncertain`;
END;--> statement-breakpoint
CREATE TRIGGER `message_quarters_at_update` AFTER UPDATE OF `status` ON `messages`
WHEN NEW.`status` <> OLD.`status` AND NEW.`status` <> 'delivered' AND NEW.`status` <> 'read'
	OR (NEW.`status` = 'delivered' OR NEW.`status` = 'read')
		AND OLD.`status` <> 'sent' AND OLD.`status` <> 'delivered' AND OLD.`status` <> 'read'
BEGIN
	INSERT INTO `message_quarters`
	SELECT NEW.`created_at` / 900000, NEW.`line_seq`, s, 0,
		(NEW.`status` = 'failed' OR NEW.`status` = 'expired')
			- (OLD.`status` = 'failed' OR OLD.`status` = 'expired'),
		(NEW.`status` = 'uncertain') - (OLD.`status` = 'uncertain'),
		t, t * ms, t * (ms <= 1000), t * (ms <= 5000), t * (ms <= 30000), t * (ms <= 300000)
	FROM (SELECT s, s * (NEW.`source` <> 'device') AS t,
		max(0, coalesce(iif(s < 0, OLD.`sent_at`, NEW.`sent_at`) - NEW.`waits_from`, 0)) AS ms
		FROM (SELECT (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
			- (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read') AS s))
	WHERE true
	ON CONFLICT (`quarter`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`failed` = `failed` + excluded.`failed`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`timed` = `timed` + excluded.`timed`,
		`timed_ms` = `timed_ms` + excluded.`timed_ms`, `ms_1000` = `ms_1000` + excluded.`ms_1000`,
		`ms_5000` = `ms_5000` + excluded.`ms_5000`, `ms_30000` = `ms_30000` + excluded.`ms_30000`,
		`ms_300000` = `ms_300000` + excluded.`ms_300000`;
END;--> statement-breakpoint
CREATE VIRTUAL TABLE `message_search` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='trigram remove_diacritics 1');--> statement-breakpoint
CREATE VIRTUAL TABLE `conversation_search` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='trigram remove_diacritics 1');--> statement-breakpoint
CREATE VIRTUAL TABLE `people_search` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='trigram remove_diacritics 1');--> statement-breakpoint
INSERT INTO `search_progress` VALUES ('messages', 0), ('conversations', 0);--> statement-breakpoint
CREATE TRIGGER `message_search_at_delete` AFTER DELETE ON `messages`
BEGIN
	DELETE FROM `message_search` WHERE rowid = OLD.`seq`;
	UPDATE `search_progress` SET `seq` = coalesce((SELECT max(`seq`) FROM `messages`), 0)
	WHERE `name` = 'messages' AND `seq` > coalesce((SELECT max(`seq`) FROM `messages`), 0);
END;--> statement-breakpoint
CREATE TRIGGER `conversation_search_at_delete` AFTER DELETE ON `conversations`
BEGIN
	DELETE FROM `conversation_search` WHERE rowid = OLD.`seq`;
	UPDATE `search_progress` SET `seq` = coalesce((SELECT max(`seq`) FROM `conversations`), 0)
	WHERE `name` = 'conversations' AND `seq` > coalesce((SELECT max(`seq`) FROM `conversations`), 0);
END;--> statement-breakpoint
CREATE TRIGGER `message_search_at_update` AFTER UPDATE OF `text` ON `messages`
WHEN NEW.`text` <> OLD.`text`
	AND NEW.`seq` <= (SELECT `seq` FROM `search_progress` WHERE `name` = 'messages')
BEGIN
	DELETE FROM `message_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `message_search` (rowid, words) VALUES (NEW.`seq`, NEW.`text`);
END;--> statement-breakpoint
CREATE TRIGGER `conversation_search_at_rename` AFTER UPDATE OF `name` ON `groups`
WHEN NEW.`name` IS NOT OLD.`name`
	AND NEW.`seq` <= (SELECT `seq` FROM `search_progress` WHERE `name` = 'conversations')
BEGIN
	DELETE FROM `conversation_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `conversation_search` (rowid, words)
	SELECT `seq`, `handle` || ' ' || coalesce(NEW.`name`, '') FROM `conversations` WHERE `seq` = NEW.`seq`;
END;--> statement-breakpoint
CREATE TRIGGER `people_search_at_insert` AFTER INSERT ON `people`
BEGIN
	INSERT INTO `people_search` (rowid, words) VALUES (NEW.`seq`, NEW.`name` || ' ' || NEW.`handle` || ' ' ||
		coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), ''));
END;--> statement-breakpoint
CREATE TRIGGER `people_search_at_update` AFTER UPDATE ON `people`
BEGIN
	DELETE FROM `people_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `people_search` (rowid, words) VALUES (NEW.`seq`, NEW.`name` || ' ' || NEW.`handle` || ' ' ||
		coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), ''));
END;--> statement-breakpoint
CREATE TRIGGER `people_search_at_delete` AFTER DELETE ON `people`
BEGIN
	DELETE FROM `people_search` WHERE rowid = OLD.`seq`;
END;
