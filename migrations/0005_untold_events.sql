CREATE TABLE `untold_events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`message_id` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `__new_idempotency` (
	`key` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`message_id` text NOT NULL,
	`answer` text,
	`body` text,
	`created_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_idempotency` SELECT `key`, `fingerprint`, `message_id`, `answer`, `body`, `created_at` FROM `idempotency`;--> statement-breakpoint
DROP TABLE `idempotency`;--> statement-breakpoint
ALTER TABLE `__new_idempotency` RENAME TO `idempotency`;--> statement-breakpoint
CREATE INDEX `idempotency_by_age` ON `idempotency` (`created_at`);
