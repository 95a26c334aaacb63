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
	`after` text
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_id_unique` ON `audit` (`id`);--> statement-breakpoint
CREATE INDEX `audit_by_age` ON `audit` (`at`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit` (`action`,`at`);