CREATE TABLE `__new_lines` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`driver` text NOT NULL,
	`device_key` text NOT NULL,
	`phone_number` text NOT NULL,
	`label` text,
	`daily_contact_limit` integer NOT NULL,
	`is_enabled` integer NOT NULL,
	`relay_sms` integer NOT NULL,
	`checkpoint` text,
	`contacts_reserved` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_lines`("seq", "id", "driver", "device_key", "phone_number", "label", "daily_contact_limit", "is_enabled", "relay_sms", "checkpoint", "contacts_reserved", "created_at", "deleted_at") SELECT "rowid", "id", "driver", "device_key", "phone_number", "label", "daily_contact_limit", "is_enabled", "relay_sms", "checkpoint", "contacts_reserved", "created_at", "deleted_at" FROM `lines`;--> statement-breakpoint
DROP TABLE `lines`;--> statement-breakpoint
ALTER TABLE `__new_lines` RENAME TO `lines`;--> statement-breakpoint
CREATE UNIQUE INDEX `lines_id_unique` ON `lines` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `lines_by_device` ON `lines` (`driver`,`device_key`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE TABLE `__new_conversations` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`line_id` text NOT NULL,
	`phone_number` text NOT NULL,
	`handle` text NOT NULL,
	`service` text NOT NULL,
	`message_count` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`automation_paused` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`line_id`) REFERENCES `lines`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_conversations`("seq", "id", "line_id", "phone_number", "handle", "service", "message_count", "last_seq", "automation_paused", "created_at", "updated_at") SELECT "rowid", "id", "line_id", "phone_number", "handle", "service", "message_count", "last_seq", "automation_paused", "created_at", "updated_at" FROM `conversations`;--> statement-breakpoint
DROP TABLE `conversations`;--> statement-breakpoint
ALTER TABLE `__new_conversations` RENAME TO `conversations`;--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_id_unique` ON `conversations` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_by_line_and_handle` ON `conversations` (`line_id`,`handle`);--> statement-breakpoint
CREATE INDEX `conversations_by_last` ON `conversations` (`last_seq`);--> statement-breakpoint
CREATE INDEX `conversations_by_line_and_last` ON `conversations` (`line_id`,`last_seq`);--> statement-breakpoint
CREATE INDEX `conversations_by_handle` ON `conversations` (`handle`);--> statement-breakpoint
CREATE TABLE `__new_messages` (
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
	`source` text NOT NULL,
	`is_pinned` integer DEFAULT false NOT NULL,
	`queued_reason` text,
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
	FOREIGN KEY (`conversation_seq`) REFERENCES `conversations`(`seq`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_messages`("seq", "id", "line_seq", "conversation_seq", "phone_number", "handle", "direction", "status", "service", "text", "guid", "platform_guid", "source", "is_pinned", "queued_reason", "due_at", "round", "refused_by", "contact_hold", "note", "passed_at", "error_code", "error_message", "revision", "created_at", "updated_at", "sent_at", "delivered_at", "read_at") SELECT "seq", "id", (SELECT "seq" FROM `lines` WHERE "id" = "line_id"), (SELECT "seq" FROM `conversations` WHERE "id" = "conversation_id"), "phone_number", "handle", "direction", "status", "service", "text", "guid", "platform_guid", "source", "is_pinned", "queued_reason", "due_at", "round", "refused_by", "contact_hold", "note", "passed_at", "error_code", "error_message", "revision", "created_at", "updated_at", "sent_at", "delivered_at", "read_at" FROM `messages`;--> statement-breakpoint
DROP TABLE `messages`;--> statement-breakpoint
ALTER TABLE `__new_messages` RENAME TO `messages`;--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id_unique` ON `messages` (`id`);--> statement-breakpoint
CREATE INDEX `messages_by_line` ON `messages` (`line_seq`);--> statement-breakpoint
CREATE INDEX `messages_by_conversation` ON `messages` (`conversation_seq`);--> statement-breakpoint
CREATE INDEX `messages_by_direction` ON `messages` (`direction`);--> statement-breakpoint
CREATE INDEX `messages_by_status` ON `messages` (`status`);--> statement-breakpoint
CREATE INDEX `messages_by_change` ON `messages` (`updated_at`,`revision`);--> statement-breakpoint
CREATE INDEX `messages_due_by_line` ON `messages` (`line_seq`,`due_at`) WHERE status = 'queued' AND due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `messages_to_announce` ON `messages` (`due_at`) WHERE status = 'uncertain' AND due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `messages_unfinished_by_conversation` ON `messages` (`conversation_seq`) WHERE status = 'queued' OR status = 'sending' OR status = 'uncertain';