ALTER TABLE `dashboard_owner` ADD `totp_sealed` blob;--> statement-breakpoint
ALTER TABLE `dashboard_owner` ADD `totp_step` integer;--> statement-breakpoint
ALTER TABLE `dashboard_owner` ADD `recovery_sha256` blob;