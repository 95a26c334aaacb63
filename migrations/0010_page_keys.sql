CREATE TABLE `dashboard_networks` (
	`network` text PRIMARY KEY NOT NULL,
	`signed_in_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `dashboard_sessions` ADD `page_key_sha256` blob;
