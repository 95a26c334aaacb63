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
	`elevated_until` integer NOT NULL
) STRICT, WITHOUT ROWID;
