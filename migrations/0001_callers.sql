DROP INDEX `attachments_upload_key_unique`;--> statement-breakpoint
ALTER TABLE `attachments` ADD `caller` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `attachments_by_upload_key` ON `attachments` (`caller`,`upload_key`) WHERE upload_key IS NOT NULL;--> statement-breakpoint
CREATE TABLE `__new_idempotency` (
	`caller` text DEFAULT '' NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`message_id` text NOT NULL,
	`answer` text,
	`body` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`caller`, `key`),
	CONSTRAINT "answer_is_known" CHECK(`answer` = 'sent' OR `answer` = 'accepted' OR `answer` = 'send_failed')
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_idempotency`("caller", "key", "fingerprint", "message_id", "answer", "body", "created_at") SELECT '', "key", "fingerprint", "message_id", "answer", "body", "created_at" FROM `idempotency`;--> statement-breakpoint
DROP TABLE `idempotency`;--> statement-breakpoint
ALTER TABLE `__new_idempotency` RENAME TO `idempotency`;--> statement-breakpoint
CREATE INDEX `idempotency_by_age` ON `idempotency` (`created_at`);--> statement-breakpoint
ALTER TABLE `messages` ADD `key_id` text;