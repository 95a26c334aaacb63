CREATE TABLE `alert_channels` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text,
	`handle` text,
	`line_id` text,
	`sealed_url` blob,
	`shown_url` text,
	`form` text,
	`quiet_hours` text,
	`created_at` integer NOT NULL,
	CONSTRAINT "kind_is_known" CHECK(`kind` = 'text' OR `kind` = 'post'),
	CONSTRAINT "form_is_known" CHECK(`form` = 'ntfy' OR `form` = 'apprise'),
	CONSTRAINT "quiet_hours_is_json" CHECK(`quiet_hours` IS NULL OR json_valid(`quiet_hours`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_channels_id_unique` ON `alert_channels` (`id`);--> statement-breakpoint
CREATE TABLE `alert_notices` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`channel_id` text NOT NULL,
	`kind` text NOT NULL,
	`raised` text NOT NULL,
	`resolved` text NOT NULL,
	`also` integer DEFAULT 0 NOT NULL,
	`status` text NOT NULL,
	`title` text,
	`text` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`message_id` text,
	`error` text,
	`created_at` integer NOT NULL,
	`handed_over_at` integer,
	`tried_at` integer,
	`ended_at` integer,
	CONSTRAINT "kind_is_known" CHECK(`kind` = 'raised' OR `kind` = 'resolved' OR `kind` = 'summary' OR `kind` = 'test'),
	CONSTRAINT "status_is_known" CHECK(`status` = 'waiting' OR `status` = 'handed_over' OR `status` = 'done' OR `status` = 'failed'),
	CONSTRAINT "raised_is_json" CHECK(`raised` IS NULL OR json_valid(`raised`)),
	CONSTRAINT "resolved_is_json" CHECK(`resolved` IS NULL OR json_valid(`resolved`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alert_notices_id_unique` ON `alert_notices` (`id`);--> statement-breakpoint
CREATE INDEX `alert_notices_open` ON `alert_notices` (`channel_id`) WHERE status = 'waiting' OR status = 'handed_over';--> statement-breakpoint
CREATE INDEX `alert_notices_handed_over` ON `alert_notices` (`channel_id`,`handed_over_at`);--> statement-breakpoint
CREATE INDEX `alert_notices_by_creation` ON `alert_notices` (`created_at`);--> statement-breakpoint
CREATE TABLE `alert_rules` (
	`cause` text PRIMARY KEY NOT NULL,
	`after_minutes` integer NOT NULL,
	`phone_line_ids` text,
	`is_enabled` integer NOT NULL,
	CONSTRAINT "cause_is_a_name" CHECK(`cause` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "phone_line_ids_is_json" CHECK(`phone_line_ids` IS NULL OR json_valid(`phone_line_ids`))
) STRICT;
--> statement-breakpoint
CREATE TABLE `alerts` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`cause` text NOT NULL,
	`about_kind` text NOT NULL,
	`about_id` text NOT NULL,
	`line_id` text,
	`title` text NOT NULL,
	`since` integer NOT NULL,
	`raised_at` integer,
	`resolved_at` integer,
	`lasted_ms` integer,
	CONSTRAINT "cause_is_a_name" CHECK(`cause` NOT GLOB '*[^a-z._]*')
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_id_unique` ON `alerts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_open` ON `alerts` (`cause`,`about_kind`,`about_id`) WHERE resolved_at IS NULL;--> statement-breakpoint
CREATE INDEX `alerts_resolved` ON `alerts` (`resolved_at`) WHERE resolved_at IS NOT NULL;