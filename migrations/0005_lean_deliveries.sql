CREATE TABLE `__new_deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`webhook_seq` integer NOT NULL,
	`event_seq` integer NOT NULL,
	`status` text NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`scheduled_count` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`requested_at` integer,
	`replayed_at` integer,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`webhook_seq`) REFERENCES `webhooks`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`event_seq`) REFERENCES `events`(`seq`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "status_is_known" CHECK(`status` = 'pending' OR `status` = 'succeeded' OR `status` = 'exhausted')
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_deliveries`("seq", "id", "webhook_seq", "event_seq", "status", "attempt_count", "scheduled_count", "next_attempt_at", "requested_at", "replayed_at", "created_at", "completed_at") SELECT d."seq", d."id", w."seq", d."event_seq", d."status", d."attempt_count", d."scheduled_count", d."next_attempt_at", d."requested_at", d."replayed_at", d."created_at", d."completed_at" FROM `deliveries` d CROSS JOIN `webhooks` w ON w."id" = d."webhook_id";--> statement-breakpoint
DROP TABLE `deliveries`;--> statement-breakpoint
ALTER TABLE `__new_deliveries` RENAME TO `deliveries`;--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_id_unique` ON `deliveries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_event` ON `deliveries` (`event_seq`,`webhook_seq`);--> statement-breakpoint
CREATE INDEX `deliveries_by_webhook` ON `deliveries` (`webhook_seq`);--> statement-breakpoint
CREATE INDEX `deliveries_by_webhook_and_status` ON `deliveries` (`webhook_seq`,`status`) WHERE status = 'pending' OR status = 'exhausted';--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`webhook_seq`,`next_attempt_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_requested` ON `deliveries` (`webhook_seq`) WHERE requested_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_replayed` ON `deliveries` (`webhook_seq`) WHERE status = 'pending' AND replayed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_by_completion` ON `deliveries` (`completed_at`) WHERE completed_at IS NOT NULL;