CREATE TABLE `message_days` (
	`day` integer NOT NULL,
	`line_seq` integer NOT NULL,
	`sent` integer NOT NULL,
	`received` integer NOT NULL,
	`failed` integer NOT NULL,
	`uncertain` integer NOT NULL,
	PRIMARY KEY(`day`, `line_seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `message_days` SELECT `created_at` / 86400000, `line_seq`,
	sum(`status` = 'sent' OR `status` = 'delivered' OR `status` = 'read'),
	sum(`status` = 'received'),
	sum(`status` = 'failed' OR `status` = 'expired'),
	sum(`status` = 'uncertain')
FROM `messages` GROUP BY 1, 2;--> statement-breakpoint
CREATE TRIGGER `message_days_at_insert` AFTER INSERT ON `messages`
WHEN NEW.`status` <> 'queued' AND NEW.`status` <> 'sending'
BEGIN
	INSERT INTO `message_days` VALUES (NEW.`created_at` / 86400000, NEW.`line_seq`,
		NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read',
		NEW.`status` = 'received',
		NEW.`status` = 'failed' OR NEW.`status` = 'expired',
		NEW.`status` = 'uncertain')
	ON CONFLICT (`day`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`received` = `received` + excluded.`received`, `failed` = `failed` + excluded.`failed`,
		`uncertain` = `uncertain` + excluded.`uncertain`;
END;--> statement-breakpoint
CREATE TRIGGER `message_days_at_update` AFTER UPDATE OF `status` ON `messages`
WHEN NEW.`status` <> OLD.`status` AND NEW.`status` <> 'delivered' AND NEW.`status` <> 'read'
	OR (NEW.`status` = 'delivered' OR NEW.`status` = 'read')
		AND OLD.`status` <> 'sent' AND OLD.`status` <> 'delivered' AND OLD.`status` <> 'read'
BEGIN
	INSERT INTO `message_days` VALUES (NEW.`created_at` / 86400000, NEW.`line_seq`,
		(NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
			- (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read'),
		0,
		(NEW.`status` = 'failed' OR NEW.`status` = 'expired')
			- (OLD.`status` = 'failed' OR OLD.`status` = 'expired'),
		(NEW.`status` = 'uncertain') - (OLD.`status` = 'uncertain'))
	ON CONFLICT (`day`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`received` = `received` + excluded.`received`, `failed` = `failed` + excluded.`failed`,
		`uncertain` = `uncertain` + excluded.`uncertain`;
END;--> statement-breakpoint
ALTER TABLE `conversations` ADD `moved_to` integer REFERENCES conversations(seq) ON DELETE cascade;--> statement-breakpoint
CREATE INDEX `conversations_by_move` ON `conversations` (`moved_to`) WHERE moved_to IS NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `replayed_at` integer;--> statement-breakpoint
CREATE INDEX `deliveries_replayed` ON `deliveries` (`webhook_id`) WHERE status = 'pending' AND replayed_at IS NOT NULL;