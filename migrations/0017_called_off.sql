ALTER TABLE `message_quarters` ADD `canceled` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER `message_quarters_at_insert`;--> statement-breakpoint
CREATE TRIGGER `message_quarters_at_insert` AFTER INSERT ON `messages`
WHEN NEW.`status` <> 'queued' AND NEW.`status` <> 'deferred' AND NEW.`status` <> 'sending'
BEGIN
	INSERT INTO `message_quarters` VALUES (NEW.`created_at` / 900000, NEW.`line_seq`,
		NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read',
		NEW.`status` = 'received',
		NEW.`status` = 'failed' OR NEW.`status` = 'expired',
		NEW.`status` = 'uncertain', 0, 0, 0, 0, 0, 0, 0)
	ON CONFLICT (`quarter`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`received` = `received` + excluded.`received`, `failed` = `failed` + excluded.`failed`,
		`uncertain` = `uncertain` + excluded.`uncertain`;
END;--> statement-breakpoint
DROP TRIGGER `message_quarters_at_update`;--> statement-breakpoint
CREATE TRIGGER `message_quarters_at_update` AFTER UPDATE OF `sent_at`, `error_code` ON `messages`
WHEN (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
	<> (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read')
	OR (NEW.`status` = 'failed' OR NEW.`status` = 'expired') <> (OLD.`status` = 'failed' OR OLD.`status` = 'expired')
	OR (NEW.`status` = 'uncertain') <> (OLD.`status` = 'uncertain')
	OR (NEW.`status` = 'failed' AND coalesce(NEW.`error_code`, '') IN ('canceled', 'denied'))
		<> (OLD.`status` = 'failed' AND coalesce(OLD.`error_code`, '') IN ('canceled', 'denied'))
BEGIN
	INSERT INTO `message_quarters`
	SELECT NEW.`created_at` / 900000, NEW.`line_seq`, s, 0,
		(NEW.`status` = 'failed' OR NEW.`status` = 'expired')
			- (OLD.`status` = 'failed' OR OLD.`status` = 'expired'),
		(NEW.`status` = 'uncertain') - (OLD.`status` = 'uncertain'),
		t, t * ms, t * (ms <= 1000), t * (ms <= 5000), t * (ms <= 30000), t * (ms <= 300000),
		(NEW.`status` = 'failed' AND coalesce(NEW.`error_code`, '') IN ('canceled', 'denied'))
			- (OLD.`status` = 'failed' AND coalesce(OLD.`error_code`, '') IN ('canceled', 'denied'))
	FROM (SELECT s, s * (NEW.`source` <> 'device') AS t,
		max(0, coalesce(iif(s < 0, OLD.`sent_at`, NEW.`sent_at`) - NEW.`waits_from`, 0)) AS ms
		FROM (SELECT (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
			- (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read') AS s))
	WHERE true
	ON CONFLICT (`quarter`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`failed` = `failed` + excluded.`failed`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`timed` = `timed` + excluded.`timed`,
		`timed_ms` = `timed_ms` + excluded.`timed_ms`, `ms_1000` = `ms_1000` + excluded.`ms_1000`,
		`ms_5000` = `ms_5000` + excluded.`ms_5000`, `ms_30000` = `ms_30000` + excluded.`ms_30000`,
		`ms_300000` = `ms_300000` + excluded.`ms_300000`,
		`canceled` = `canceled` + excluded.`canceled`;
END;--> statement-breakpoint
DROP TRIGGER `timeline_hours_at_update`;--> statement-breakpoint
CREATE TRIGGER `timeline_hours_at_update` AFTER UPDATE OF `status` ON `messages`
WHEN NEW.`status` <> OLD.`status` AND NOT (NEW.`status` = 'failed' AND coalesce(NEW.`error_code`, '') IN ('canceled', 'denied', 'resolved_by_hand')) AND (NEW.`status` = 'failed' OR NEW.`status` = 'expired' OR NEW.`status` = 'uncertain'
	OR (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
		AND (OLD.`status` = 'failed' OR OLD.`status` = 'uncertain'))
BEGIN
	INSERT INTO `timeline_hours` VALUES (NEW.`updated_at` / 3600000, NEW.`line_seq`,
		NEW.`status` = 'failed', NEW.`status` = 'expired', NEW.`status` = 'uncertain',
		NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read', 0, 0)
	ON CONFLICT (`hour`, `line_seq`) DO UPDATE SET `failed` = `failed` + excluded.`failed`,
		`expired` = `expired` + excluded.`expired`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`confirmed` = `confirmed` + excluded.`confirmed`;
END;--> statement-breakpoint
UPDATE `message_quarters` SET `canceled` = min(`failed`, `ended`.`count`)
FROM (SELECT `created_at` / 900000 AS `unit`, `line_seq` AS `line`, count(*) AS `count`
	FROM `messages` INDEXED BY `messages_by_status`
	WHERE `status` = 'failed' AND `error_code` IN ('canceled', 'denied') GROUP BY 1, 2) AS `ended`
WHERE `quarter` = `ended`.`unit` AND `message_quarters`.`line_seq` = `ended`.`line`;--> statement-breakpoint
UPDATE `timeline_hours` SET `failed` = max(0, `failed` - `ended`.`count`)
FROM (SELECT `updated_at` / 3600000 AS `unit`, `line_seq` AS `line`, count(*) AS `count`
	FROM `messages` INDEXED BY `messages_by_status`
	WHERE `status` = 'failed' AND `error_code` IN ('canceled', 'denied', 'resolved_by_hand') GROUP BY 1, 2) AS `ended`
WHERE `hour` = `ended`.`unit` AND `timeline_hours`.`line_seq` = `ended`.`line`;