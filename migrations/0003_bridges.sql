CREATE TABLE `bridges` (
	`id` text PRIMARY KEY NOT NULL,
	`phone_number` text NOT NULL,
	`label` text,
	`token_sha256` blob NOT NULL,
	`token_hint` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`token_created_at` integer NOT NULL,
	`last_heard_at` integer,
	`revoked_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `bridges_token_sha256_unique` ON `bridges` (`token_sha256`);--> statement-breakpoint
CREATE UNIQUE INDEX `bridges_by_number` ON `bridges` (`phone_number`) WHERE revoked_at IS NULL;